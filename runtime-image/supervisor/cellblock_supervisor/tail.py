"""A ring buffer for the end of a byte stream, used by the supervisor and by the kernel."""

from collections import deque

# Pieces up to this many times the limit are kept by reference instead of being copied.
_MAX_REFERENCE_FACTOR = 4


class Tail:
    """Keeps the last `limit` bytes that were added; `dropped` counts the bytes that it discarded."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: deque[bytes] = deque()
        self._size = 0
        self.dropped = 0

    def __bool__(self) -> bool:
        return bool(self._parts or self.dropped)

    def add(self, data: bytes | memoryview) -> None:
        size = len(data)
        if size >= self._limit:
            # The piece replaces everything. `bytes` are immutable and kept by reference; a larger piece or a view is cut before it is copied.
            if size > _MAX_REFERENCE_FACTOR * self._limit or type(data) is not bytes:
                self.dropped += size - self._limit
                data = bytes(data[size - self._limit :])
            self.dropped += self._size
            self._size = len(data)
            self._parts.clear()
            self._parts.append(data)
            return
        self._parts.append(bytes(data))
        self._size += size
        while self._parts and self._size - len(self._parts[0]) >= self._limit:
            removed = len(self._parts.popleft())
            self._size -= removed
            self.dropped += removed

    def skip(self, size: int) -> None:
        """Counts `size` bytes of the stream that were not read. The bytes held before them are no longer the end."""
        self.dropped += self._size + size
        self._parts.clear()
        self._size = 0

    def take(self) -> bytes:
        """Returns the bytes held and empties the buffer."""
        held = b"".join(self._parts)
        cut = max(0, len(held) - self._limit)
        self.skip(cut - self._size)
        return held[cut:]
