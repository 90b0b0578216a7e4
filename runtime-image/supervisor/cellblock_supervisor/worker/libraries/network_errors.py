"""Explains a failed connection: the sandbox has no network, or one through a proxy only."""

import errno
import functools
import os
import socket
from collections.abc import Iterator
from typing import Any

_MAX_CAUSES = 12
_WITHOUT_PROXY = (
    "This sandbox reaches allowed hosts only over HTTP and HTTPS through the proxy in HTTPS_PROXY, and this connection did not use it."
    " With aiohttp use ClientSession(trust_env=True)."
)
_NOTHING_LISTENS = "Nothing listens on this port of the sandbox."


def install(_module: object, _shell: object) -> None:
    """Explains a failed name resolution where it happens: programs often catch and print it."""
    original = socket.getaddrinfo

    @functools.wraps(original)
    def getaddrinfo(*arguments: Any, **options: Any) -> Any:
        try:
            return original(*arguments, **options)
        except socket.gaierror as error:
            explain(error)
            raise

    socket.getaddrinfo = getaddrinfo


def _has_loopback() -> bool:
    return "SOCKET_WRAPPER_DIR" in os.environ


def explain(error: BaseException) -> None:
    """Completes the message of an exception that a refused connection or a failed name resolution has caused; leaves every other one as it is."""
    text = next((sentence for cause in causes(error) if (sentence := _sentence(cause)) is not None), None)
    if text is None or text in str(error):
        return
    if isinstance(error, OSError) and error.strerror:
        error.strerror = f"{error.strerror}. {text}"
    elif hasattr(error, "reason"):
        error.reason = f"{error.reason}. {text}"
    else:
        error.args = (f"{error.args[0] if error.args else type(error).__name__}. {text}", *error.args[1:])


def _sentence(error: BaseException) -> str | None:
    has_loopback = _has_loopback()
    if isinstance(error, socket.gaierror) or (isinstance(error, OSError) and error.errno == errno.ENETUNREACH):
        if os.environ.get("HTTPS_PROXY"):
            return _WITHOUT_PROXY
        rest = " Only programs inside it answer, on 127.0.0.1." if has_loopback else ""
        return f"This sandbox has no network, so no address can be reached.{rest} Upload the data as a file instead."
    if has_loopback and isinstance(error, OSError) and error.errno in (errno.EHOSTUNREACH, errno.ECONNREFUSED):
        return _NOTHING_LISTENS
    return None


def causes(error: BaseException) -> Iterator[BaseException]:
    """The exception and those that it wraps: by chaining, as `reason`, or as its first argument."""
    waiting, seen = [error], set[int]()
    while waiting and len(seen) < _MAX_CAUSES:
        one = waiting.pop(0)
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        inner = (one.__cause__, one.__context__, getattr(one, "reason", None), *one.args[:1])
        waiting += [other for other in inner if isinstance(other, BaseException)]
