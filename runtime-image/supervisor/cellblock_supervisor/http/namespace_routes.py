"""The variables of one sandbox as an opaque stream, for another sandbox."""

from ..execution import namespace
from ..execution.job_registry import Busy
from ..execution.namespace import Budget
from ..sandbox import Sandbox
from .messages import HttpError, Reply, Request, json_reply


async def snapshot(sandbox: Sandbox, request: Request) -> Reply:
    budget = _budget(request)
    _claim_namespace(sandbox)
    reply = Reply(content_type="application/octet-stream", more=sandbox.namespace.may_pause)
    reply.stream = sandbox.namespace.snapshot(budget, reply.trailers, sandbox.shutdown.note_saved)
    return reply


async def restore(sandbox: Sandbox, request: Request) -> Reply:
    budget = _budget(request)
    if request.query.get("unused") == "1" and sandbox.executions.has_run:
        raise HttpError("conflict", "code has run in this sandbox already: its variables are newer")
    _claim_namespace(sandbox)
    try:
        return json_reply(await sandbox.namespace.restore(budget, request.body, fresh_random=request.query.get("fresh_random") == "1"))
    except namespace.NotRestorable as error:
        raise HttpError("bad_request", str(error)) from None
    finally:
        sandbox.executions.namespace_busy = False


def _budget(request: Request) -> Budget:
    cpu = request.query.get("cpu_ms")
    return Budget(
        timeout_ms=_milliseconds(request.query.get("timeout_ms", str(namespace.DEFAULT_TIMEOUT_MS)), "timeout_ms"),
        cpu_ms=None if cpu is None else _milliseconds(cpu, "cpu_ms"),
    )


def _milliseconds(text: str, name: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 9 or not 1 <= int(text) <= namespace.MAX_TIMEOUT_MS:
        raise HttpError("bad_request", f"{name} must be a number of milliseconds between 1 and {namespace.MAX_TIMEOUT_MS}")
    return int(text)


def _claim_namespace(sandbox: Sandbox) -> None:
    if sandbox.state == "refused":
        raise HttpError("unavailable", "this sandbox refused to take work: start another one")
    try:
        sandbox.executions.claim_namespace()
    except Busy:
        raise HttpError("conflict", "an execution is running: wait for its done event") from None
