"""The numbered events of one execution, for any number of readers."""

import asyncio
import json
import time

# Readers are notified this much later, or with the last event: the events of a short cell travel in one piece and cost one wake-up.
NOTIFY_DELAY_SECONDS = 0.002
_PIECE_BYTES = 1024 * 1024

_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode


# With more retained events than this, streams keep `PLAIN_HEAD_BYTES` of their start, whatever their commands asked for.
CROWDED_BYTES = 64 * 1024 * 1024
PLAIN_HEAD_BYTES = 1024 * 1024


class RetainedBytes:
    """Counts the bytes of events that several logs retain together."""

    def __init__(self) -> None:
        self.bytes = 0

    @property
    def crowded(self) -> bool:
        return self.bytes > CROWDED_BYTES


class EventLog:
    """Events are encoded once, as NDJSON lines. `_first` is the number of the oldest one kept."""

    def __init__(self, retained: RetainedBytes | None = None) -> None:
        self._lines: list[bytes] = []
        self._first = 0
        self._waiters: set[asyncio.Future[None]] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._retained = retained or RetainedBytes()
        self.bytes = 0
        self.closed = False
        # Streams of its events that have not ended. None of them may miss an event.
        self.readers = 0

    @property
    def next_seq(self) -> int:
        return self._first + len(self._lines)

    @property
    def crowded(self) -> bool:
        """Whether all logs together are so large that this one should keep only the default."""
        return self._retained.crowded

    def append(self, kind: str, fields: dict[str, object], last: bool = False) -> None:
        event = {"seq": self.next_seq, "t": time.time_ns() // 1_000_000, "type": kind, **fields}
        line = _encode(event).encode() + b"\n"
        self._lines.append(line)
        self._count(len(line))
        self.closed = self.closed or last
        if last:
            self._notify_readers()
        elif self._waiters and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(NOTIFY_DELAY_SECONDS, self._notify_readers)

    def keep_last(self) -> None:
        """Drops every event but the last one of a finished execution."""
        count = len(self._lines) - 1 if self.closed else len(self._lines)
        self._count(-sum(map(len, self._lines[:count])))
        del self._lines[:count]
        self._first += count

    def after(self, seq: int) -> tuple[bytes, int]:
        """Kept events after `seq` in one piece, a long log in several, and the number of the last of them."""
        start = end = max(0, seq + 1 - self._first)
        size = 0
        while end < len(self._lines) and size < _PIECE_BYTES:
            size += len(self._lines[end])
            end += 1
        return b"".join(self._lines[start:end]), self._first + end - 1 if end > start else seq

    def release(self) -> None:
        """The log is discarded: its bytes no longer count."""
        self._count(-self.bytes)

    async def wait(self, seq: int) -> None:
        """Returns when there is an event after `seq`, or when none can follow."""
        if self.next_seq > seq + 1 or self.closed:
            return
        await self.wait_for_events()

    async def wait_for_events(self, at_most_seconds: float | None = None) -> None:
        """Returns when readers are notified, at the latest after `at_most_seconds`."""
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[None] = loop.create_future()
        self._waiters.add(waiter)
        timer = None if at_most_seconds is None else loop.call_later(at_most_seconds, _resolve, waiter)
        try:
            await waiter
        finally:
            self._waiters.discard(waiter)
            if timer is not None:
                timer.cancel()

    def _notify_readers(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for waiter in self._waiters:
            _resolve(waiter)

    def _count(self, change: int) -> None:
        self.bytes += change
        self._retained.bytes += change


def _resolve(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)
