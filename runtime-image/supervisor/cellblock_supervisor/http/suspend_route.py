"""POST /suspend: prepares the sandbox for a checkpoint of its processes."""

from ..sandbox import Sandbox
from .messages import HttpError, Reply, Request, json_reply


async def suspend(sandbox: Sandbox, _request: Request) -> Reply:
    if sandbox.state != "ready":
        raise HttpError("unavailable", "this sandbox is not ready")
    if sandbox.is_busy() or sandbox.executions.namespace_busy:
        raise HttpError("conflict", "something runs: wait for its done event")
    sandbox.suspending.set()
    return json_reply({})
