"""Executions: start or attach, read on, interrupt."""

import os
import re
from collections.abc import AsyncIterator

from ..config import DATA_DIR
from ..execution.command import Command
from ..execution.event_log import EventLog
from ..execution.execution import Execution, Request as ExecutionRequest
from ..execution.outputs import MAX_DISPLAY_EVENTS
from ..execution.registry import Busy, Expired, FinishedExecution
from ..sandbox import Sandbox
from .messages import HttpError, Reply, Request, json_reply

MAX_BODY_BYTES = 16 * 1024 * 1024
MAX_CELLS = 1_000
MAX_HEAD_BYTES = 8 * 1024 * 1024
MAX_TAIL_BYTES = 1024 * 1024
MAX_TIMEOUT_MS = 24 * 3600 * 1000
MAX_VARIABLES = 200
MAX_ENV_BYTES = 128 * 1024
MAX_PATH_CHARACTERS = 4096
LANGUAGES = ("python", "bash", "javascript", "typescript", "r")
# The response head waits this long for the first events, so that a short cell is answered in one piece.
HEAD_SECONDS = 0.01

_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")
_TRACE_ID = re.compile(r"[0-9a-f]{32}")


async def start(sandbox: Sandbox, request: Request) -> Reply:
    execution_id = checked_id(request)
    execution = sandbox.registry.find(execution_id)
    if execution is None:
        if sandbox.state == "refused":
            raise HttpError("unavailable", "this sandbox refused to take work: start another one")
        wanted = _execution_request(await request.json(MAX_BODY_BYTES))
        # The same id may have been started while the body arrived.
        execution = sandbox.registry.find(execution_id)
    if execution is None:
        try:
            execution = sandbox.registry.start(execution_id, wanted)
        except Expired:
            raise HttpError("conflict", "an execution with this id ran here earlier and its events were discarded") from None
        except Busy:
            raise HttpError("conflict", "another execution is running: wait for its done event") from None
    return stream(execution, request)


async def events(sandbox: Sandbox, request: Request) -> Reply:
    return stream(_find(sandbox, request), request)


async def interrupt(sandbox: Sandbox, request: Request) -> Reply:
    execution = _find(sandbox, request)
    body = await request.json(4096)
    execution.stop("cancelled", integer(body, "kill_after_ms", 2000, 0, 60_000))
    return json_reply({}, 202)


def _find(sandbox: Sandbox, request: Request) -> Execution | FinishedExecution:
    execution = sandbox.registry.find(checked_id(request))
    if execution is None:
        raise HttpError("not_found", "no execution with this id was started in this sandbox")
    return execution


def checked_id(request: Request) -> str:
    execution_id = request.path[1]
    if _ID.fullmatch(execution_id) is None:
        raise HttpError("bad_request", "an execution id is 1 to 128 letters, digits, _ or -")
    return execution_id


def stream(execution: Execution | Command | FinishedExecution, request: Request) -> Reply:
    after = request.query.get("after", "-1")
    if re.fullmatch(r"-1|[0-9]{1,15}", after) is None:
        raise HttpError("bad_request", "after must be an event number, or -1 for all")
    log = execution.log
    return Reply(content_type="application/x-ndjson", stream=_lines(log, int(after)), more=lambda: not log.closed)


async def _lines(log: EventLog, seq: int) -> AsyncIterator[bytes]:
    """Events that exist, then new ones. The first piece is empty when none came in time: it sends the response head."""
    if log.next_seq <= seq + 1 and not log.closed:
        await log.wait_for_events(HEAD_SECONDS)
        if log.next_seq <= seq + 1:
            yield b""
    while True:
        piece, seq = log.after(seq)
        if piece:
            yield piece
        elif log.closed:
            return
        else:
            await log.wait(seq)


def _execution_request(body: dict[str, object]) -> ExecutionRequest:
    if body.get("v") != 1:
        raise HttpError("bad_request", "this supervisor speaks version 1 of the protocol: send v: 1")
    cells = body.get("cells")
    if not isinstance(cells, list) or not 1 <= len(cells) <= MAX_CELLS:
        raise HttpError("bad_request", f"cells must be a list of 1 to {MAX_CELLS} cells")
    codes: list[str] = []
    for cell in cells:
        code = cell.get("code") if isinstance(cell, dict) else None
        if not isinstance(code, str):
            raise HttpError("bad_request", "each cell must be an object with a string called code")
        codes.append(code)
    on_error = body.get("on_error", "stop")
    if on_error not in ("stop", "continue"):
        raise HttpError("bad_request", "on_error must be stop or continue")
    store_history = body.get("store_history", True)
    if not isinstance(store_history, bool):
        raise HttpError("bad_request", "store_history must be true or false")
    language = body.get("language", "python")
    if language not in LANGUAGES:
        raise HttpError("bad_request", f"language must be one of {', '.join(LANGUAGES)}")
    return ExecutionRequest(
        cells=tuple(codes),
        on_error=str(on_error),
        store_history=store_history,
        timeout_ms=integer(body, "timeout_ms", 120_000, 1, MAX_TIMEOUT_MS),
        cpu_ms=optional(body, "cpu_ms", 1),
        max_total_bytes=optional(body, "max_total_bytes", 0),
        max_displays=min(integer(body, "max_displays", MAX_DISPLAY_EVENTS, 0, 2**53), MAX_DISPLAY_EVENTS),
        head_bytes=min(integer(body, "max_output_bytes", 1024 * 1024, 0, 2**53), MAX_HEAD_BYTES),
        tail_bytes=min(integer(body, "tail_bytes", 64 * 1024, 0, 2**53), MAX_TAIL_BYTES),
        trace_id=trace_id(body),
        env=environment(body) or None,
        cwd=folder(body),
        language=str(language),
    )


def trace_id(body: dict[str, object]) -> str | None:
    given = body.get("trace_id")
    if given is None or (isinstance(given, str) and _TRACE_ID.fullmatch(given)):
        return given
    raise HttpError("bad_request", "trace_id must be 32 lower-case hexadecimal digits")


def environment(body: dict[str, object]) -> dict[str, str]:
    given = body.get("env")
    if given is None:
        return {}
    if not isinstance(given, dict) or len(given) > MAX_VARIABLES or sum(len(f"{name}{value}") for name, value in given.items()) > MAX_ENV_BYTES:
        raise HttpError("bad_request", f"env must be an object of at most {MAX_VARIABLES} variables and {MAX_ENV_BYTES} characters")
    for name, value in given.items():
        if not isinstance(value, str) or not name or "=" in name or not is_os_text(name + value):
            raise HttpError("bad_request", "each variable of env has a name without = and a string as its value, both of whole Unicode characters but null")
    return given


def folder(body: dict[str, object]) -> str | None:
    """The absolute path of `cwd`, which is relative to /mnt/data or absolute."""
    given = body.get("cwd")
    if given is None:
        return None
    if not isinstance(given, str) or not is_os_text(given) or len(given) > MAX_PATH_CHARACTERS:
        raise HttpError("bad_request", f"cwd must be a path of at most {MAX_PATH_CHARACTERS} whole Unicode characters but null")
    return os.path.join(DATA_DIR, given)


def is_os_text(text: str) -> bool:
    """Whether the operating system takes it as an argument: without a null character and without half of a surrogate pair."""
    try:
        return b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False


def optional(body: dict[str, object], name: str, low: int) -> int | None:
    return None if body.get(name) is None else integer(body, name, None, low, 2**53)


def integer(body: dict[str, object], name: str, default: int | None, low: int, high: int) -> int:
    value = body.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise HttpError("bad_request", f"{name} must be an integer between {low} and {high}")
    return value
