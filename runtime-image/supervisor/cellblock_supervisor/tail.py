"""The end of a stream of bytes: supervisor and kernel keep it in the same way."""

from collections import deque

_USUAL = 4


class Tail:
    """Keeps the last `limit` bytes that were added, and counts in `dropped` those that had to go for them."""

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
            # It is the whole end. Bytes never change: those of a usual size are held as they came. Anything else is copied, so it is cut first.
            if size > _USUAL * self._limit or type(data) is not bytes:
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
            gone = len(self._parts.popleft())
            self._size -= gone
            self.dropped += gone

    def skip(self, size: int) -> None:
        """So many bytes came that nobody kept: what was held before them is the end no more."""
        self.dropped += self._size + size
        self._parts.clear()
        self._size = 0

    def take(self) -> bytes:
        """Hands over what is held."""
        held = b"".join(self._parts)
        cut = max(0, len(held) - self._limit)
        self.skip(cut - self._size)
        return held[cut:]
