"""GET /health: the readiness probe. The only unsigned route."""

import asyncio
import contextlib

from ..sandbox import Sandbox
from .messages import HttpError, Reply, Request, json_reply

MAX_WAIT_MS = 30_000


async def health(sandbox: Sandbox, request: Request) -> Reply:
    wait = request.query.get("wait", "0")
    if not wait.isascii() or not wait.isdigit() or len(wait) > 9:
        raise HttpError("bad_request", "wait must be a number of milliseconds")
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(min(int(wait), MAX_WAIT_MS) / 1000):
            await sandbox.decided.wait()
    return json_reply(sandbox.health())
