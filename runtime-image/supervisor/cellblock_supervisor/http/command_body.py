"""The bodies that start a command and that send it input."""

import base64
import binascii
import signal

from ..config import DATA_DIR
from ..execution.command import CommandRequest
from ..execution.command_input import InputEntry
from .body_fields import check_version, environment, folder, integer, is_os_text, job_limits
from .messages import HttpError

MAX_ARGUMENTS = 1_000
# The kernel accepts 128 KiB in one argument.
MAX_ARGUMENT_BYTES = 128 * 1024 - 1
MAX_TERMINAL_SIZE = 1_000
MAX_ENTRIES = 1_000
_SIGNALS = frozenset(int(number) for number in signal.Signals)


def command_request(body: dict[str, object]) -> CommandRequest:
    check_version(body)
    size = body.get("pty")
    return CommandRequest(
        argv=_argv(body.get("argv")),
        limits=job_limits(body),
        env=environment(body),
        cwd=folder(body) or DATA_DIR,
        stdin=None if body.get("stdin") is None else _bytes(body.get("stdin")),
        has_open_input=body.get("stdin_open") is True,
        terminal=None if size is None else _size(size),
    )


def input_entries(body: dict[str, object]) -> list[InputEntry]:
    given = body.get("entries")
    if not isinstance(given, list) or len(given) > MAX_ENTRIES:
        raise HttpError("bad_request", f"entries must be a list of at most {MAX_ENTRIES} entries")
    return [_entry(entry) for entry in given]


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
