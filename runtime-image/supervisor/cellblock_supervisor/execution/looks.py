"""What is looked at again and again while an execution runs, all in one turn of the loop."""

import asyncio
from collections.abc import Callable

_EVERY_SECONDS = 0.05


class Looks:
    """Calls each of `looks` every 50 ms, the first time after as long, until it is stopped."""

    def __init__(self, *looks: Callable[[], None]) -> None:
        self._looks = looks
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(_EVERY_SECONDS, self._look)

    def stop(self) -> None:
        self._timer.cancel()

    def _look(self) -> None:
        for look in self._looks:
            look()
        self._timer = self._loop.call_later(_EVERY_SECONDS, self._look)
