"""One output stream of an execution: the head goes out live, the end is kept in a ring, everything is counted."""

import codecs
from collections import deque
from collections.abc import Callable

MAX_EVENT_CHARACTERS = 16 * 1024
MAX_EVENT_BYTES = 64 * 1024


class StreamKeeper:
    """`emit(text)` is called with pieces of at most 64 KiB. Bytes are hostile: anything that is not UTF-8 becomes U+FFFD."""

    def __init__(self, head_bytes: int, tail_bytes: int, emit: Callable[[str], None]) -> None:
        self._emit = emit
        self._head_left = head_bytes
        self._tail_limit = tail_bytes
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self._pending = bytearray()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.total_bytes = 0
        self._dropped = 0

    @property
    def has_pending(self) -> bool:
        return bool(self._pending)

    @property
    def kept_bytes(self) -> int:
        return self.total_bytes - self._dropped

    def add(self, data: bytes | memoryview) -> None:
        self.total_bytes += len(data)
        if self._head_left > 0:
            head = data[: self._head_left]
            self._head_left -= len(head)
            self._pending += head
            data = data[len(head) :]
        if len(data):
            self._keep_tail(data)
        if len(self._pending) >= MAX_EVENT_BYTES:
            self.flush()

    def flush(self, final: bool = False) -> None:
        """Sends what waits. Cutting between bytes of one character is safe: the decoder keeps the rest."""
        if not self._pending and not final:
            return
        text = self._decoder.decode(bytes(self._pending), final)
        self._pending.clear()
        for start in range(0, len(text), MAX_EVENT_CHARACTERS):
            self._emit(text[start : start + MAX_EVENT_CHARACTERS])

    def finish(self) -> None:
        """Sends the kept end. What lies between head and end is gone, and `kept_bytes` says so."""
        self.flush(final=not self._tail and not self._dropped)
        if not self._tail:
            return
        tail = b"".join(self._tail)
        cut = max(0, len(tail) - self._tail_limit)
        self._dropped += cut
        self._tail.clear()
        self._tail_size = 0
        if self._dropped:
            # The end starts in the middle of the stream: a half character at the seam belongs to neither side.
            self._decoder.reset()
        self._pending += tail[cut:]
        self.flush(final=True)

    def _keep_tail(self, data: bytes | memoryview) -> None:
        if len(data) >= self._tail_limit:
            self._dropped += self._tail_size + len(data) - self._tail_limit
            self._tail.clear()
            self._tail_size = 0
            data = data[len(data) - self._tail_limit :]
        if not len(data):
            return
        self._tail.append(bytes(data))
        self._tail_size += len(data)
        while self._tail_size - len(self._tail[0]) >= self._tail_limit:
            gone = len(self._tail.popleft())
            self._tail_size -= gone
            self._dropped += gone
