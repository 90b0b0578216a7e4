"""The private format of a snapshot of the namespace: a JSON line, then frames `kind, length, bytes`, in bulk packets of the kernel's channel.

E state of the process or of a session: its name (JSON), a null byte, its bytes    F a file of installed packages    N name of the next variable (JSON)    P its pickle    B one of its buffers    I imports (JSON)    L lost variables (JSON), last
"""

import struct
from collections.abc import Iterator

from ..channel.channel import Channel

FORMAT = {"format": "cellblock-namespace", "v": 1}
_FRAME = struct.Struct("<cQ")
# Takes nothing of a packet.
_NOWHERE = memoryview(bytearray())


def send_frame_head(channel: Channel, kind: bytes, size: int) -> None:
    """The caller sends as many bytes."""
    channel.send_bulk(_FRAME.pack(kind, size))


def send_frame(channel: Channel, kind: bytes, *parts: bytes | memoryview) -> None:
    send_frame_head(channel, kind, sum(len(part) if isinstance(part, bytes) else part.nbytes for part in parts))
    for part in parts:
        channel.send_bulk(part)


class FrameReader:
    """Reads frames from bulk packets; an empty packet ends them."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._rest = memoryview(b"")
        self._ended = False

    def line(self) -> bytes:
        text = b""
        while b"\n" not in text and len(text) < 4096 and self._receive(_NOWHERE) is not None:
            text += bytes(self._rest)
        line, _, rest = text.partition(b"\n")
        self._rest = memoryview(rest)
        return line if line.startswith(b"{") else b"{}"

    def frames(self) -> Iterator[tuple[bytes, bytearray]]:
        while True:
            head = self._exactly(_FRAME.size)
            if len(head) < _FRAME.size:
                return
            kind, size = _FRAME.unpack(head)
            body = self._exactly(size)
            if len(body) < size:
                raise ValueError("the snapshot ends in the middle")
            yield kind, body

    def drain(self) -> None:
        while self._receive(_NOWHERE) is not None:
            pass

    def _exactly(self, size: int) -> bytearray:
        """A large frame is received into its final place."""
        body = bytearray(size)
        view = memoryview(body)
        at = min(size, len(self._rest))
        view[:at] = self._rest[:at]
        self._rest = self._rest[at:]
        while at < size:
            count = self._receive(view[at:])
            if count is None:
                return body[:at]
            at += count
        return body

    def _receive(self, target: memoryview) -> int | None:
        """How many bytes of the next packet are in `target`; the others are in `_rest`. None at the end."""
        received = None if self._ended else self._channel.receive_bulk(target)
        if received is None:
            self._ended = True
            self._rest = memoryview(b"")
            return None
        count, self._rest = received
        return count
