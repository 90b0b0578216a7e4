"""The kernel's end of the channel to the supervisor. Any thread and any forked child may send text and messages."""

import fcntl
import itertools
import json
import os
import socket
import struct
import termios
import time
from collections.abc import Callable

from ... import packets


class Channel:
    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self._owner = os.getpid()
        self._numbers = itertools.count()
        self._assembler = packets.Assembler(max_bytes=1 << 30)
        self._buffer = bytearray(packets.BULK_BYTES)
        self._kind = bytearray(1)

    def fileno(self) -> int:
        return self._socket.fileno()

    @property
    def is_forked(self) -> bool:
        """True in a child that user code forked. It shares the socket with the kernel."""
        return os.getpid() != self._owner

    def _end_if_forked(self) -> None:
        if self.is_forked:
            os._exit(0)

    def send_text(self, kind: int, text: memoryview) -> None:
        """Blocks until the supervisor has read: this bounds the memory of a flood."""
        step = packets.PACKET_BYTES - 1
        head = bytes((kind,))
        for start in range(0, len(text), step):
            self._socket.sendmsg((head, text[start : start + step]))

    def send_skipped(self, kind: int, size: int) -> None:
        self._socket.send(packets.SKIP.pack(packets.SKIPPED, kind, size))

    def send_bulk(self, data: bytes | memoryview) -> None:
        """Ends a forked child, which would mix its packets into the snapshot of the kernel."""
        self._end_if_forked()
        step = packets.BULK_BYTES - 1
        head = bytes((packets.BULK,))
        view = memoryview(data)
        for start in range(0, len(view), step):
            self._socket.sendmsg((head, view[start : start + step]))

    def send_message(self, message: dict[str, object], default: Callable[[object], object] | None = None) -> None:
        """`default` converts values that JSON does not have, as for json.dumps."""
        body = json.dumps(message, separators=(",", ":"), default=default).encode()
        # The process id separates the fragments of forked children.
        number = (os.getpid() << 40) | (next(self._numbers) & 0xFF_FFFF_FFFF)
        for packet in packets.fragments(number, body):
            self._socket.send(packet)

    def receive(self) -> tuple[int, bytes] | None:
        """The next complete message or bulk packet as (kind, body), or None when there is none yet. Raises EOFError at the end.

        Ends a forked child, which would take packets of the kernel.
        """
        self._end_if_forked()
        while True:
            try:
                size = self._socket.recv_into(self._buffer, 0, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return None
            if size == 0:
                raise EOFError
            kind = self._buffer[0]
            if kind == packets.BULK:
                return kind, bytes(self._buffer[1:size])
            body = self._assembler.add(bytes(self._buffer[:size]))
            if body is not None:
                return kind, body

    def receive_bulk(self, target: memoryview) -> tuple[int, memoryview] | None:
        """Waits for the next bulk packet; None for an empty one, the end. Returns how many of its bytes are in `target`, and those that did not fit,
        which are valid until the next call. Raises EOFError.

        Ends a forked child, which would take parts of the snapshot.
        """
        self._end_if_forked()
        size, *_ = self._socket.recvmsg_into((self._kind, target, self._buffer))
        if size == 0:
            raise EOFError
        if size == 1 or self._kind[0] != packets.BULK:
            return None
        count = min(size - 1, len(target))
        return count, memoryview(self._buffer)[: size - 1 - count]

    def wait_until_read(self, timeout_seconds: float = 0.2) -> None:
        """Returns when the supervisor has read everything sent so far, so that a child's raw output comes after it."""
        deadline = time.monotonic() + timeout_seconds
        unread = bytearray(4)
        while time.monotonic() < deadline:
            fcntl.ioctl(self._socket, termios.TIOCOUTQ, unread)
            if struct.unpack("i", unread)[0] == 0:
                return
            time.sleep(0.0002)
