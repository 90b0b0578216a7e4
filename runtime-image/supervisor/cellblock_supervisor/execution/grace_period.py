"""The time between the interrupt of a kernel and its kill."""

import asyncio
from collections.abc import Callable

from . import worker_processes

_INTERVAL_SECONDS = 0.1
# A sandbox that gets at least this part of a processor has exactly the time that was asked for.
_FULL_SHARE = 1 / 4
# More time for a sandbox that gets less, so that a crowded host cannot delay the end without a bound.
MAX_EXTRA_SECONDS = 8.0


class GracePeriod:
    """Calls `on_over` once, after `milliseconds` in which the kernel could act on the interrupt.

    On a host that is busy with other work, code that would stop at the interrupt must not lose its variables. So while the kernel's main thread is
    ready to run, at most four times the processor time of the sandbox counts. The sandbox's and not the kernel's: code must not gain time by
    keeping its own kernel from running. `cpu_ms` returns that processor time; while it is None, all of the time counts.
    """

    def __init__(self, pid: int, milliseconds: int, cpu_ms: Callable[[], float | None], on_over: Callable[[], None]) -> None:
        self._pid = pid
        self._left = milliseconds / 1000
        self._cpu_ms = cpu_ms
        self._on_over = on_over
        self._loop = asyncio.get_running_loop()
        self._checked_at, self._cpu = self._loop.time(), cpu_ms()
        self._latest_end = self._checked_at + self._left + MAX_EXTRA_SECONDS
        self._timer = self._loop.call_later(min(self._left, _INTERVAL_SECONDS), self._check)

    def cancel(self) -> None:
        self._timer.cancel()

    def _check(self) -> None:
        before, self._checked_at = self._checked_at, self._loop.time()
        self._left -= self._counted(self._checked_at - before)
        if self._left <= 0 or self._checked_at >= self._latest_end:
            self._on_over()
        else:
            self._timer = self._loop.call_later(min(max(self._left, 0.01), _INTERVAL_SECONDS), self._check)

    def _counted(self, passed: float) -> float:
        before, self._cpu = self._cpu, self._cpu_ms()
        if before is None or self._cpu is None or not worker_processes.is_runnable(self._pid):
            return passed
        return min(passed, (self._cpu - before) / 1000 / _FULL_SHARE)
