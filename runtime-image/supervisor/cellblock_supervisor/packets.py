"""The channel between supervisor and kernel: an inherited AF_UNIX SOCK_SEQPACKET pair.

Each packet is one atomic write, so forked children and threads may share the channel and can never break its framing.
A packet is one kind byte and its payload; JSON messages longer than a packet travel as numbered fragments.
"""

import struct

PACKET_BYTES = 64 * 1024 + 1
# Half as many packets take half the processor time under gVisor. It fits the default buffer of a socket under Linux.
BULK_BYTES = 128 * 1024 + 1
# Several packets wait while the other side runs. Linux gives as much as the host's maximum.
BUFFER_BYTES = 1024 * 1024
STDOUT, STDERR, MESSAGE, BULK, SKIPPED = 0x31, 0x32, 0x4A, 0x42, 0x53

# kind, message number (unique per sender), 1 on the last fragment
_FRAGMENT = struct.Struct("<BQB")
# kind, STDOUT or STDERR, number of bytes that the kernel counted and did not send
SKIP = struct.Struct("<BBQ")


def fragments(number: int, body: bytes) -> list[bytes]:
    """The packets that carry `body`, in order."""
    step = PACKET_BYTES - _FRAGMENT.size
    if len(body) <= step:
        return [_FRAGMENT.pack(MESSAGE, number, 1) + body]
    starts = range(0, len(body), step)
    return [_FRAGMENT.pack(MESSAGE, number, int(start + step >= len(body))) + body[start : start + step] for start in starts]


class Assembler:
    """Joins fragments of a hostile sender: `max_bytes` bounds the memory of all unfinished messages together."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._held = 0
        self._parts: dict[int, list[bytes]] = {}
        self._dropped: dict[int, int] = {}
        self._dropped_sizes: list[int] = []

    def add(self, packet: bytes | memoryview) -> bytes | None:
        """The whole message once its last fragment is here. A message over the limit is dropped and its size kept."""
        if len(packet) < _FRAGMENT.size:
            return None
        _, number, last = _FRAGMENT.unpack_from(packet)
        payload = bytes(packet[_FRAGMENT.size :])
        if last and number not in self._parts and number not in self._dropped:
            return payload
        if number in self._dropped or self._held + len(payload) > self._max_bytes or len(self._parts) > 64:
            self._drop(number, len(payload), bool(last))
            return None
        self._parts.setdefault(number, []).append(payload)
        self._held += len(payload)
        if not last:
            return None
        whole = b"".join(self._parts.pop(number))
        self._held -= len(whole)
        return whole

    def take_dropped(self) -> list[int]:
        """Sizes of the messages dropped since the last call."""
        sizes, self._dropped_sizes = self._dropped_sizes, []
        return sizes

    def clear(self) -> None:
        """Discards incomplete messages (the sender was interrupted or died)."""
        self._parts.clear()
        self._dropped.clear()
        self._dropped_sizes.clear()
        self._held = 0

    def _drop(self, number: int, size: int, last: bool) -> None:
        held = sum(map(len, self._parts.pop(number, [])))
        self._held -= held
        total = self._dropped.pop(number, 0) + held + size
        if last:
            self._dropped_sizes = [*self._dropped_sizes[-63:], total]
        elif len(self._dropped) < 64:
            self._dropped[number] = total
