"""Fields of the bodies that start executions and commands."""

import os
import re

from ..config import DATA_DIR
from ..execution.job import JobLimits
from .messages import HttpError

MAX_BODY_BYTES = 16 * 1024 * 1024
MAX_HEAD_BYTES = 24 * 1024 * 1024
MAX_TAIL_BYTES = 1024 * 1024
MAX_TIMEOUT_MS = 24 * 3600 * 1000
MAX_VARIABLES = 200
MAX_ENV_BYTES = 128 * 1024
MAX_PATH_CHARACTERS = 4096

_TRACE_ID = re.compile(r"[0-9a-f]{32}")
_CONTEXT = re.compile(r"[\w-]{1,64}", re.ASCII)


def check_version(body: dict[str, object]) -> None:
    if body.get("v") != 1:
        raise HttpError("bad_request", "this supervisor speaks version 1 of the protocol: send v: 1")


def job_limits(body: dict[str, object]) -> JobLimits:
    return JobLimits(
        timeout_ms=integer(body, "timeout_ms", 120_000, 1, MAX_TIMEOUT_MS),
        head_bytes=min(integer(body, "max_output_bytes", 1024 * 1024, 0, 2**53), MAX_HEAD_BYTES),
        tail_bytes=min(integer(body, "tail_bytes", 64 * 1024, 0, 2**53), MAX_TAIL_BYTES),
        cpu_ms=_optional(body, "cpu_ms", 1),
        max_total_bytes=_optional(body, "max_total_bytes", 0),
        trace_id=_trace_id(body),
    )


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


def context_name(body: dict[str, object]) -> str | None:
    given = body.get("context")
    if given is None or (isinstance(given, str) and _CONTEXT.fullmatch(given)):
        return given
    raise HttpError("bad_request", "context must be 1 to 64 letters, digits, hyphens and underscores")


def is_os_text(text: str) -> bool:
    """Whether the operating system takes it as an argument: without a null character and without half of a surrogate pair."""
    try:
        return b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False


def integer(body: dict[str, object], name: str, default: int | None, low: int, high: int) -> int:
    value = body.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise HttpError("bad_request", f"{name} must be an integer between {low} and {high}")
    return value


def _optional(body: dict[str, object], name: str, low: int) -> int | None:
    return None if body.get(name) is None else integer(body, name, None, low, 2**53)


def _trace_id(body: dict[str, object]) -> str | None:
    given = body.get("trace_id")
    if given is None or (isinstance(given, str) and _TRACE_ID.fullmatch(given)):
        return given
    raise HttpError("bad_request", "trace_id must be 32 lower-case hexadecimal digits")
