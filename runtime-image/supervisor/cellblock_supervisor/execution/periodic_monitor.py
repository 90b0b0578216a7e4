"""Runs several checks on one timer while an execution runs."""

import asyncio
from collections.abc import Callable

_INTERVAL_SECONDS = 0.05


class PeriodicMonitor:
    """Calls every check each 50 ms, for the first time after 50 ms, until `stop`."""

    def __init__(self, *checks: Callable[[], None]) -> None:
        self._checks = checks
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(_INTERVAL_SECONDS, self._run_checks)

    def stop(self) -> None:
        self._timer.cancel()

    def _run_checks(self) -> None:
        for check in self._checks:
            check()
        self._timer = self._loop.call_later(_INTERVAL_SECONDS, self._run_checks)
