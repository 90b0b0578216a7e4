"""Stops user code that runs while variables are saved or restored and takes too long."""

import signal
from time import monotonic, process_time
from types import FrameType, TracebackType

# User code may catch the exception, so it is raised again and again.
_REPEAT_SECONDS = 0.1
_LEAST_SECONDS = 0.005


class TimeBudgetExceeded(Exception):
    """Saving or restoring took longer than the container's limit."""


class TimeBudget:
    """A budget of time and processor time for all `with` blocks together.

    A block that takes more than half of what is left raises TimeBudgetExceeded, so that one slow variable does not take the time of all others.
    Only the blocks can be interrupted, not what is sent between them. User code can prevent the interruption: then the supervisor kills the kernel.
    """

    def __init__(self, milliseconds: int, cpu_milliseconds: int | None = None) -> None:
        self._timers = [_Timer(signal.ITIMER_REAL, signal.SIGALRM, monotonic, milliseconds)]
        if cpu_milliseconds is not None:
            self._timers.append(_Timer(signal.ITIMER_PROF, signal.SIGPROF, process_time, cpu_milliseconds))

    def __enter__(self) -> None:
        for timer in self._timers:
            timer.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for timer in self._timers:
            timer.stop()


class _Timer:
    def __init__(self, which: int, number: signal.Signals, clock, milliseconds: int) -> None:  # type: ignore[no-untyped-def]
        self._which = which
        self._number = number
        self._clock = clock
        self._left_seconds = milliseconds / 1000
        self._started = 0.0

    def start(self) -> None:
        self._started = self._clock()
        self._previous_handler = signal.signal(self._number, self._on_signal)
        signal.setitimer(self._which, max(_LEAST_SECONDS, self._left_seconds / 2), _REPEAT_SECONDS)

    def stop(self) -> None:
        signal.setitimer(self._which, 0)
        signal.signal(self._number, self._previous_handler or signal.SIG_DFL)
        self._left_seconds -= self._clock() - self._started

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        raise TimeBudgetExceeded("the time limit for saving and restoring variables was reached")
