"""Reads one output of a command without blocking and without buffering: a command that floods waits until it was read."""

import asyncio
import os
from collections.abc import Callable

_READ_BYTES = 64 * 1024
_MAX_BYTES_PER_TURN = 1024 * 1024
# A flood is read at this interval, so that other commands and the kernel are served too.
_FLOOD_PAUSE_SECONDS = 0.01
# More than a pipe holds.
_MAX_REST_BYTES = 4 * 1024 * 1024


class OutputReader:
    """Calls `on_text(name, data)`. Owns the descriptor."""

    def __init__(self, fd: int, name: str, on_text: Callable[[str, bytes], None]) -> None:
        self.fd = fd
        self._name = name
        self._on_text = on_text
        self._loop = asyncio.get_running_loop()
        self._pause: asyncio.TimerHandle | None = None
        os.set_blocking(fd, False)
        self._listen()

    def finish(self) -> None:
        """Reads what is there and closes."""
        self._read(_MAX_REST_BYTES)
        self._stop_listening()
        os.close(self.fd)

    def _listen(self) -> None:
        self._pause = None
        self._loop.add_reader(self.fd, self._on_readable)

    def _stop_listening(self) -> None:
        if self._pause is not None:
            self._pause.cancel()
        self._loop.remove_reader(self.fd)

    def _on_readable(self) -> None:
        if self._read(_MAX_BYTES_PER_TURN) >= _MAX_BYTES_PER_TURN:
            self._loop.remove_reader(self.fd)
            self._pause = self._loop.call_later(_FLOOD_PAUSE_SECONDS, self._listen)

    def _read(self, limit: int) -> int:
        total = 0
        while total < limit:
            try:
                data = os.read(self.fd, _READ_BYTES)
            except BlockingIOError:
                break
            except OSError:
                # A terminal whose programs have all ended.
                data = b""
            if not data:
                self._loop.remove_reader(self.fd)
                break
            total += len(data)
            self._on_text(self._name, data)
        return total
