"""The child that becomes a command: its standard streams or terminal, its folder, its environment, then exec."""

import contextlib
import fcntl
import json
import os
import signal
import termios

from .channel.terminals import NO_TERMINAL
from .isolation import loopback

_NOT_FOUND, _NOT_EXECUTABLE = 127, 126
_FIRST_FD = 3


def prepare(fds: list[int]) -> None:
    """As root: programs may open their streams by name, as /dev/stdout."""
    ends = fds[1:]
    if len(ends) == 3:
        # gVisor refuses it, and such a program fails there.
        with contextlib.suppress(PermissionError):
            os.fchmod(ends[0], 0o644)
            for fd in ends[1:]:
                os.fchmod(fd, 0o622)


def main(fds: list[int]) -> None:
    """Does not return. The caller has already become the worker, which leads a new session."""
    loopback.activate()
    with open(fds[0], "rb", closefd=False) as file:
        file.seek(0)
        wanted = json.load(file)
    has_terminal = len(fds) == 2
    if has_terminal:
        fcntl.ioctl(fds[1], termios.TIOCSCTTY, 0)
    for number, fd in enumerate([fds[1]] * 3 if has_terminal else fds[1:]):
        os.dup2(fd, number)
    os.closerange(_FIRST_FD, os.sysconf("SC_OPEN_MAX"))
    # Python ignores it, and a program that is started inherits that.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    environment = {**os.environ, "TERM": "xterm-256color" if has_terminal else NO_TERMINAL, **wanted["env"]}
    program = wanted["argv"][0]
    try:
        os.chdir(wanted["cwd"])
    except OSError as error:
        _fail(f"cannot enter the folder {wanted['cwd']}: {error.strerror}", _NOT_EXECUTABLE)
    try:
        os.execvpe(program, wanted["argv"], environment)
    except FileNotFoundError:
        _fail(f"{program}: command not found", _NOT_FOUND)
    except OSError as error:
        _fail(f"{program}: {error.strerror}", _NOT_EXECUTABLE)
    except ValueError as error:
        # What no program takes: an empty name in the environment, for instance.
        _fail(f"{program}: {error}", _NOT_EXECUTABLE)


def _fail(reason: str, code: int) -> None:
    """As a shell does."""
    os.write(2, f"{reason}\n".encode("utf-8", "surrogateescape"))
    os._exit(code)
