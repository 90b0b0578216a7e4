"""Commands: start or attach, read on, send input, stop."""

import base64
import binascii
import signal

from ..config import DATA_DIR
from ..execution.command import Command, CommandRequest
from ..execution.command_input import InputEntry
from ..execution.registry import Busy, Expired, FinishedExecution
from ..sandbox import Sandbox
from .execution_routes import (
    MAX_BODY_BYTES,
    MAX_HEAD_BYTES,
    MAX_TAIL_BYTES,
    MAX_TIMEOUT_MS,
    checked_id,
    environment,
    folder,
    integer,
    is_os_text,
    optional,
    stream,
    trace_id,
)
from .messages import HttpError, Reply, Request, json_reply

MAX_ARGUMENTS = 1_000
# The kernel accepts 128 KiB in one argument.
MAX_ARGUMENT_BYTES = 128 * 1024 - 1
MAX_TERMINAL_SIZE = 1_000
MAX_ENTRIES = 1_000
_SIGNALS = frozenset(int(number) for number in signal.Signals)


async def start(sandbox: Sandbox, request: Request) -> Reply:
    command_id = checked_id(request)
    command = sandbox.commands.find(command_id)
    if command is None:
        if sandbox.state != "ready":
            raise HttpError("unavailable", "this sandbox is not ready for commands: wait until /health says ready, or start another one")
        wanted = _command_request(await request.json(MAX_BODY_BYTES))
        # The same id may have been started while the body arrived.
        command = sandbox.commands.find(command_id)
    if command is None:
        try:
            command = sandbox.commands.start(command_id, wanted)
        except Expired:
            raise HttpError("conflict", "a command with this id ran here earlier and its events were discarded") from None
        except Busy:
            raise HttpError("too_large", "the maximum number of commands runs: wait for one to end or stop one") from None
    return stream(command, request)


async def events(sandbox: Sandbox, request: Request) -> Reply:
    return stream(_find(sandbox, request), request)


async def send_input(sandbox: Sandbox, request: Request) -> Reply:
    """Applies numbered entries once. The answer says how far; entries behind a full buffer have to be sent again later."""
    _find(sandbox, request)
    entries = _entries(await request.json(MAX_BODY_BYTES))
    running = sandbox.commands.running(request.path[1])
    # A command that has ended reads nothing more, so that everything counts as applied.
    through = running.input.apply(entries) if running is not None else max((entry.seq for entry in entries), default=-1)
    return json_reply({"through": through})


async def stop(sandbox: Sandbox, request: Request) -> Reply:
    command = _find(sandbox, request)
    body = await request.json(4096)
    command.stop("cancelled", integer(body, "kill_after_ms", 2000, 0, 60_000))
    return json_reply({}, 202)


def _find(sandbox: Sandbox, request: Request) -> Command | FinishedExecution:
    command = sandbox.commands.find(checked_id(request))
    if command is None:
        raise HttpError("not_found", "no command with this id was started in this sandbox")
    return command


def _command_request(body: dict[str, object]) -> CommandRequest:
    if body.get("v") != 1:
        raise HttpError("bad_request", "this supervisor speaks version 1 of the protocol: send v: 1")
    size = body.get("pty")
    return CommandRequest(
        argv=_argv(body.get("argv")),
        env=environment(body),
        cwd=folder(body) or DATA_DIR,
        stdin=None if body.get("stdin") is None else _bytes(body.get("stdin")),
        has_open_input=body.get("stdin_open") is True,
        terminal=None if size is None else _size(size),
        timeout_ms=integer(body, "timeout_ms", 120_000, 1, MAX_TIMEOUT_MS),
        cpu_ms=optional(body, "cpu_ms", 1),
        max_total_bytes=optional(body, "max_total_bytes", 0),
        head_bytes=min(integer(body, "max_output_bytes", 1024 * 1024, 0, 2**53), MAX_HEAD_BYTES),
        tail_bytes=min(integer(body, "tail_bytes", 64 * 1024, 0, 2**53), MAX_TAIL_BYTES),
        trace_id=trace_id(body),
    )


def _argv(given: object) -> tuple[str, ...]:
    if not isinstance(given, list) or not 1 <= len(given) <= MAX_ARGUMENTS:
        raise HttpError("bad_request", f"argv must be a list of 1 to {MAX_ARGUMENTS} strings")
    for argument in given:
        if not isinstance(argument, str) or not is_os_text(argument) or len(argument.encode()) > MAX_ARGUMENT_BYTES:
            raise HttpError("bad_request", f"each of argv must be a string of at most {MAX_ARGUMENT_BYTES} bytes, of whole Unicode characters but null")
    if not given[0]:
        raise HttpError("bad_request", "the first of argv must name a program")
    return tuple(given)


def _bytes(given: object) -> bytes:
    try:
        return base64.b64decode(given if isinstance(given, str) else "?", validate=True)
    except (binascii.Error, ValueError):
        raise HttpError("bad_request", "input must be base64") from None


def _size(given: object) -> tuple[int, int]:
    if not isinstance(given, dict):
        raise HttpError("bad_request", "the size of a terminal is an object with cols and rows")
    return integer(given, "cols", 80, 1, MAX_TERMINAL_SIZE), integer(given, "rows", 24, 1, MAX_TERMINAL_SIZE)


def _entries(body: dict[str, object]) -> list[InputEntry]:
    given = body.get("entries")
    if not isinstance(given, list) or len(given) > MAX_ENTRIES:
        raise HttpError("bad_request", f"entries must be a list of at most {MAX_ENTRIES} entries")
    return [_entry(entry) for entry in given]


def _entry(given: object) -> InputEntry:
    if not isinstance(given, dict):
        raise HttpError("bad_request", "each entry must be an object")
    seq = integer(given, "seq", None, 0, 2**53)
    if "data" in given:
        return InputEntry(seq, data=_bytes(given["data"]))
    if "signal" in given:
        number = integer(given, "signal", None, 1, 64)
        if number not in _SIGNALS:
            raise HttpError("bad_request", f"there is no signal {number}")
        return InputEntry(seq, signal=number)
    if "size" in given:
        return InputEntry(seq, size=_size(given["size"]))
    return InputEntry(seq)
