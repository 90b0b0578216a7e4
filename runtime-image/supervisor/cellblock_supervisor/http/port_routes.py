"""Ports on which programs of user code listen."""

from functools import partial

from ..sandbox import Sandbox
from .messages import HttpError, Reply, Request, json_reply


async def listing(sandbox: Sandbox, _request: Request) -> Reply:
    return json_reply({"ports": sandbox.ports().listening()})


async def connect(sandbox: Sandbox, request: Request) -> Reply:
    port = request.path[1]
    if not port.isascii() or not port.isdigit() or len(port) > 5 or not 1 <= int(port) <= 65_535:
        raise HttpError("bad_request", "the port must be a number from 1 to 65535")
    return Reply(101, upgrade=partial(sandbox.ports().serve, port=int(port)))
