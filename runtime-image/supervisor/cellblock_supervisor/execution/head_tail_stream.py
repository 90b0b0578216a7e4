"""One output stream of an execution: the head is emitted live, the tail is kept in a ring buffer, every byte is counted."""

import codecs
from collections.abc import Callable

from ..tail import Tail

MAX_EVENT_CHARACTERS = 16 * 1024
MAX_EVENT_BYTES = 64 * 1024


class HeadTailStream:
    """`emit(text)` receives pieces of at most 64 KiB. Bytes are hostile: anything that is not UTF-8 becomes U+FFFD."""

    def __init__(self, head_bytes: int, tail_bytes: int, emit: Callable[[str], None]) -> None:
        self._emit = emit
        self.head_left = head_bytes
        self._head_used = 0
        self._tail = Tail(tail_bytes)
        self._pending = bytearray()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.total_bytes = 0

    @property
    def has_pending(self) -> bool:
        return bool(self._pending)

    @property
    def kept_bytes(self) -> int:
        return self.total_bytes - self._tail.dropped

    def add(self, data: bytes | memoryview) -> None:
        self.total_bytes += len(data)
        if self.head_left > 0:
            head = data[: self.head_left]
            self.head_left -= len(head)
            self._head_used += len(head)
            self._pending += head
            data = data[len(head) :]
        if len(data):
            self._tail.add(data)
        if len(self._pending) >= MAX_EVENT_BYTES:
            self.flush()

    def shrink_head(self, head_bytes: int) -> None:
        """Keeps no more of the start than this, or than it has already."""
        self.head_left = max(0, min(self.head_left, head_bytes - self._head_used))

    def skip(self, size: int) -> None:
        """Counts `size` bytes that were written and never read."""
        self.total_bytes += size
        self._tail.skip(size)

    def flush(self, final: bool = False) -> None:
        """Emits pending bytes. A cut inside a character is safe: the decoder keeps the incomplete bytes."""
        if not self._pending and not final:
            return
        text = self._decoder.decode(bytes(self._pending), final)
        self._pending.clear()
        for start in range(0, len(text), MAX_EVENT_CHARACTERS):
            self._emit(text[start : start + MAX_EVENT_CHARACTERS])

    def finish(self) -> None:
        """Emits the tail. The bytes between head and tail are lost; `kept_bytes` accounts for them."""
        end = self._tail.take()
        self.flush(final=not end and not self._tail.dropped)
        if not end:
            return
        if self._tail.dropped:
            # The tail starts inside the stream: an incomplete character at the seam belongs to neither part.
            self._decoder.reset()
        self._pending += end
        self.flush(final=True)
