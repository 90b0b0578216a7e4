"""The end of a sandbox after SIGTERM."""

import asyncio
import time
from collections.abc import Callable

_CHECK_SECONDS = 0.5
# A client that saves the variables downloads files after the snapshot.
_QUIET_SECONDS = 3.0
# Time until a client comes to save the variables: an event, a function and a queue lie between the signal and its request.
_SAVER_SECONDS = 20.0


class Shutdown:
    """Decides when the sandbox ends.

    SIGTERM does not say why it comes. Where the platform may take its capacity back, a worker has to save the variables before that. Where we stop a
    sandbox, no worker comes any more. So a sandbox without unsaved state ends at once, and one with state waits until it was quiet for some time, and at
    most `max_seconds`. With 0 it never waits.
    """

    def __init__(self, max_seconds: int, is_busy: Callable[[], bool], end: Callable[[], None]) -> None:
        self._max_seconds = max_seconds
        self._is_busy = is_busy
        self._end = end
        self._has_unsaved_state = False
        self._last_request_at = -float("inf")
        self._waiting: asyncio.Task[None] | None = None

    def note_request(self, method: str, path: list[str]) -> None:
        """Everything but a read and a snapshot may change the state. The health is read without a signature, so it does not count."""
        if path == ["health"]:
            return
        self._last_request_at = time.monotonic()
        if method != "GET" and path != ["snapshot"]:
            self._has_unsaved_state = True

    def note_saved(self) -> None:
        self._last_request_at = time.monotonic()
        self._has_unsaved_state = False

    def on_signal(self) -> None:
        """A second signal ends the sandbox."""
        if self._waiting is not None or self._is_over(time.monotonic()):
            self._end()
        else:
            self._waiting = asyncio.get_running_loop().create_task(self._wait())

    async def _wait(self) -> None:
        began = time.monotonic()
        while not self._is_over(began):
            await asyncio.sleep(_CHECK_SECONDS)
        self._end()

    def _is_over(self, began: float) -> bool:
        now = time.monotonic()
        if now - began >= self._max_seconds:
            return True
        if self._is_busy():
            return False
        if not self._has_unsaved_state:
            return now - self._last_request_at >= _QUIET_SECONDS
        return now - max(began, self._last_request_at) >= _SAVER_SECONDS
