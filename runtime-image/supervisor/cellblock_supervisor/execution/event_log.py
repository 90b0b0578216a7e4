"""The numbered events of one execution, kept until acknowledged, with any number of readers."""

import asyncio
import json
import time


class EventLog:
    """Events are encoded once, as NDJSON lines. `first` is the number of the oldest one kept."""

    def __init__(self) -> None:
        self._lines: list[bytes] = []
        self._first = 0
        self._waiters: set[asyncio.Future[None]] = set()
        self.bytes = 0
        self.closed = False

    @property
    def next_seq(self) -> int:
        return self._first + len(self._lines)

    def append(self, kind: str, fields: dict[str, object], last: bool = False) -> None:
        event = {"seq": self.next_seq, "t": time.time_ns() // 1_000_000, "type": kind, **fields}
        line = json.dumps(event, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode() + b"\n"
        self._lines.append(line)
        self.bytes += len(line)
        self.closed = self.closed or last
        self._wake()

    def acknowledge(self, through: int) -> None:
        """Drops events up to `through`; the last event of a finished execution always stays."""
        count = min(max(0, through + 1 - self._first), len(self._lines))
        if self.closed:
            count = min(count, len(self._lines) - 1)
        self.bytes -= sum(map(len, self._lines[:count]))
        del self._lines[:count]
        self._first += count

    def after(self, seq: int) -> tuple[bytes, int]:
        """All kept events after `seq` as one piece, and the number of the last of them."""
        start = max(0, seq + 1 - self._first)
        lines = self._lines[start:]
        return b"".join(lines), self.next_seq - 1 if lines else seq

    async def wait(self, seq: int) -> None:
        """Returns when there is an event after `seq`, or never will be."""
        if self.next_seq > seq + 1 or self.closed:
            return
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.add(waiter)
        try:
            await waiter
        finally:
            self._waiters.discard(waiter)

    def _wake(self) -> None:
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)
