"""Runs several checks on one timer."""

import asyncio
from collections.abc import Callable

DURING_EXECUTION_SECONDS = 0.05


class PeriodicMonitor:
    """Calls every check once per interval, for the first time after one interval, until `stop`."""

    def __init__(self, *checks: Callable[[], None], interval_seconds: float = DURING_EXECUTION_SECONDS) -> None:
        self._checks = checks
        self._interval = interval_seconds
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(interval_seconds, self._run_checks)

    def stop(self) -> None:
        self._timer.cancel()

    def _run_checks(self) -> None:
        for check in self._checks:
            check()
        self._timer = self._loop.call_later(self._interval, self._run_checks)
