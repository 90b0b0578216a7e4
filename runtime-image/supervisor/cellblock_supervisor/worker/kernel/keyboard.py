"""Code that asks for input: `input()`, `getpass`, debuggers. The sandbox has no user who could answer, so the code gets an error that says so."""

import sys
from types import TracebackType

from IPython.core.error import StdinNotImplementedError

_LIBRARIES = "/usr/"
_WORKER = __file__.rpartition("/kernel/")[0]


class NoKeyboardError(StdinNotImplementedError, EOFError):
    """Loops that read until the end of the input stop at it."""


class NoDebuggerError(StdinNotImplementedError):
    """A debugger takes the end of its input for a command to quit, without a message."""


def refuse() -> Exception:
    """The error for the function that called the caller."""
    if sys._getframe(2).f_globals.get("__name__") == "cmd":
        return NoDebuggerError("This sandbox has no keyboard, so a debugger cannot be used: print the values instead.")
    return NoKeyboardError("This sandbox has no keyboard: give the value in the code, for example name = 'Ann'.")


def shorten(error: BaseException) -> None:
    """Ends the traceback at the line of the user that asked: what follows are frames of the kernel and of debuggers."""
    if not isinstance(error, (NoKeyboardError, NoDebuggerError)):
        return
    last: TracebackType | None = None
    traceback = error.__traceback__
    while traceback is not None:
        if not traceback.tb_frame.f_code.co_filename.startswith((_LIBRARIES, _WORKER, "<frozen")):
            last = traceback
        traceback = traceback.tb_next
    if last is not None:
        last.tb_next = None
