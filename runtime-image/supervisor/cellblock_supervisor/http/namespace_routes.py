"""The namespace out of one sandbox and into another, as an opaque stream."""

from ..execution import namespace
from ..execution.registry import Busy
from ..sandbox import Sandbox
from .messages import HttpError, Reply, Request, json_reply


async def snapshot(sandbox: Sandbox, _request: Request) -> Reply:
    _claim_namespace(sandbox)
    reply = Reply(content_type="application/octet-stream")
    reply.stream = namespace.take_snapshot(sandbox.kernel, sandbox.registry, reply.trailers)
    return reply


async def restore(sandbox: Sandbox, request: Request) -> Reply:
    if request.query.get("unused") == "1" and sandbox.registry.has_run:
        raise HttpError("conflict", "code has run here already: its variables are newer")
    _claim_namespace(sandbox)
    try:
        return json_reply(await namespace.restore(sandbox.kernel, request.body))
    except namespace.NotRestorable as error:
        raise HttpError("bad_request", str(error)) from None
    finally:
        sandbox.registry.namespace_busy = False


def _claim_namespace(sandbox: Sandbox) -> None:
    if sandbox.state == "refused":
        raise HttpError("unavailable", "this sandbox refused to take work: start another one")
    try:
        sandbox.registry.claim_namespace()
    except Busy:
        raise HttpError("conflict", "an execution is running: wait for its done event") from None
