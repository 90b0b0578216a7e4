"""What clients send to a running command: standard input, its end, signals, the size of its terminal. Entries are numbered and applied once."""

import asyncio
import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass

# Bytes that wait for a command that does not read. Further entries are refused until it does.
MAX_WAITING_BYTES = 4 * 1024 * 1024
_END_OF_TRANSMISSION = b"\x04"
_MAX_EARLY_ENTRIES = 64


@dataclass(frozen=True)
class InputEntry:
    """One of `data`, `signal`, `size` (columns and rows), or none of them for the end of the input."""

    seq: int
    data: bytes | None = None
    signal: int | None = None
    size: tuple[int, int] | None = None


class CommandInput:
    def __init__(self, on_signal: Callable[[int], None], on_resize: Callable[[int, int], None]) -> None:
        self._on_signal = on_signal
        self._on_resize = on_resize
        self._fd = -1
        self._waiting = bytearray()
        self._ends = False
        self._is_terminal = False
        # Entries that came before the program had started.
        self._early: list[InputEntry] | None = []
        # The number of the last entry that was applied.
        self.through = -1

    def open(self, fd: int, first: bytes | None, *, stays_open: bool, is_terminal: bool = False) -> None:
        """Takes the descriptor and writes `first` to it."""
        os.set_blocking(fd, False)
        os.set_inheritable(fd, False)
        self._fd = fd
        self._is_terminal = is_terminal
        self._ends = not stays_open
        self._waiting += first or b""
        self._write()

    def apply(self, entries: list[InputEntry]) -> int:
        """Applies the entries that follow the last one, in order; returns the number of the last one that was applied now or earlier."""
        for entry in entries:
            if entry.seq != self.through + 1:
                continue
            if entry.data is not None and self._fd >= 0 and len(self._waiting) + len(entry.data) > MAX_WAITING_BYTES:
                break
            self.through = entry.seq
            if self._early is None:
                self._apply(entry)
            elif len(self._early) < _MAX_EARLY_ENTRIES:
                self._early.append(entry)
            else:
                self.through -= 1
                break
        return self.through

    def start(self) -> None:
        """The program runs: from now on entries are applied at once."""
        early, self._early = self._early or [], None
        for entry in early:
            self._apply(entry)

    def close(self) -> None:
        """Drops what the command did not read. Idempotent."""
        if self._fd >= 0:
            asyncio.get_running_loop().remove_writer(self._fd)
            os.close(self._fd)
            self._fd = -1
        self._waiting.clear()

    def _apply(self, entry: InputEntry) -> None:
        if entry.signal is not None:
            self._on_signal(entry.signal)
        elif entry.size is not None:
            self._on_resize(*entry.size)
        elif self._fd < 0 or self._ends:
            return
        elif entry.data is not None:
            self._waiting += entry.data
            self._write()
        elif self._is_terminal:
            self._waiting += _END_OF_TRANSMISSION
            self._write()
        else:
            self._ends = True
            self._write()

    def _write(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            try:
                count = os.write(self._fd, self._waiting)
            except BlockingIOError:
                loop.add_writer(self._fd, self._write)
                return
            except OSError:
                # The command has closed its input.
                self.close()
                return
            del self._waiting[:count]
        with contextlib.suppress(ValueError, KeyError):
            loop.remove_writer(self._fd)
        if self._ends:
            self.close()
