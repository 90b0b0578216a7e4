"""POST /suspend: prepares the sandbox for a checkpoint of its processes."""

from ..sandbox import Sandbox
from .messages import HttpError, Reply, Request, json_reply


async def suspend(sandbox: Sandbox, _request: Request) -> Reply:
    if sandbox.state != "ready":
        raise HttpError("unavailable", "this sandbox is not ready")
    # Commands continue from the checkpoint with everything else.
    if sandbox.executions.busy:
        raise HttpError("conflict", "an execution runs: wait for its done event")
    sandbox.suspend()
    return json_reply({})
