"""Stops user code that runs while variables are saved or restored and takes too long."""

import signal
from time import monotonic
from types import FrameType, TracebackType

# User code may catch the exception, so it is raised again and again.
_REPEAT_SECONDS = 0.1
_LEAST_SECONDS = 0.005


class TimeBudgetExceeded(Exception):
    """Saving or restoring took longer than the container's limit."""


class TimeBudget:
    """A time budget for all `with` blocks together. A block that takes more than half of the time that is left raises TimeBudgetExceeded.

    So one slow variable does not take the time of all others. Only the blocks can be interrupted, not what is sent between them. User code can prevent the interruption: then the supervisor kills the kernel.
    """

    def __init__(self, milliseconds: int) -> None:
        self._left_seconds = milliseconds / 1000
        self._started = 0.0

    def __enter__(self) -> None:
        self._started = monotonic()
        self._previous_handler = signal.signal(signal.SIGALRM, self._on_alarm)
        signal.setitimer(signal.ITIMER_REAL, max(_LEAST_SECONDS, self._left_seconds / 2), _REPEAT_SECONDS)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self._previous_handler or signal.SIG_DFL)
        self._left_seconds -= monotonic() - self._started

    def _on_alarm(self, _number: int, _frame: FrameType | None) -> None:
        raise TimeBudgetExceeded("the time limit for saving and restoring variables was reached")
