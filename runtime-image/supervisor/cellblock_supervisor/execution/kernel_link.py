"""The supervisor's end of one kernel: the channel and the pipes behind its file descriptors 1 and 2."""

import asyncio
import contextlib
import fcntl
import json
import os
import select
import socket
import termios
import time
from array import array
from collections import deque
from typing import Protocol

from .. import packets
from ..reserved_buffer import reserved_buffer
from . import json_guard

# Above the cap of a bundle, so that the size of one that is too large is known. Beyond this fragments are dropped as they come.
MAX_MESSAGE_BYTES = 14 * 1024 * 1024
_PIPE_BYTES = 1024 * 1024
_RAW_READ_BYTES = 256 * 1024
_FLOOD_BYTES = 4 * 1024
_FLOOD_ROUNDS = 8
# After this many small reads in a row the next one waits, so that small writes gather.
_MAX_SMALL_READS = 3
_SMALL_READ_BYTES = 16 * 1024
_MIN_READ_INTERVAL_SECONDS = 0.001
_PAUSE_SECONDS = 0.0002
_PACKETS_PER_TURN = 64
# More than a socket holds, whose buffer user code cannot enlarge beyond the host's maximum.
_MAX_REST_PACKETS = 4_096
_MAX_REST_BYTES = 8 * 1024 * 1024


class LinkEvents(Protocol):
    """Receives what a link reads. All data is hostile; only JSON syntax has been checked."""

    def on_text(self, name: str, data: memoryview) -> None: ...

    def tail_limit(self, name: str) -> int | None:
        """How many bytes of the stream's end are kept; None while all of it is kept."""

    def on_skipped(self, name: str, size: int) -> None:
        """`size` bytes of the stream were discarded unread, or the kernel says that it did not send them."""

    def on_message(self, message: dict[str, object]) -> None: ...
    def on_bulk(self, data: bytes) -> None: ...
    def on_dropped(self, size: int, reason: str) -> None: ...
    def on_closed(self) -> None: ...


class KernelLink:
    """Reads without blocking and without buffering: a kernel that floods blocks until the supervisor has read."""

    def __init__(self, events: LinkEvents) -> None:
        self._events = events
        self._loop = asyncio.get_running_loop()
        self._socket, self._worker_socket = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        for end in (self._socket, self._worker_socket):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, packets.BUFFER_BYTES)
        self._socket.setblocking(False)
        pipes = {"stdout": os.pipe2(os.O_CLOEXEC), "stderr": os.pipe2(os.O_CLOEXEC)}
        self._raw = {name: ends[0] for name, ends in pipes.items()}
        self._wide: set[str] = set()
        self._small_reads = 0
        self._last_read_at = 0.0
        self._worker_ends = [ends[1] for ends in pipes.values()]
        for fd in self._raw.values():
            os.set_blocking(fd, False)
        self._raw_poll = select.poll()
        for fd in self._raw.values():
            self._raw_poll.register(fd, select.POLLIN)
        self._assembler = packets.Assembler(MAX_MESSAGE_BYTES)
        # Larger than any packet that the other side can send, so that none is cut.
        self._buffer = reserved_buffer(4 * packets.BULK_BYTES)
        # A separate buffer: pipes are read while a packet is being handled.
        self._raw_view = reserved_buffer(_RAW_READ_BYTES)
        self._dev_null = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        # The parts of each packet.
        self._outgoing: deque[tuple[bytes | memoryview, ...]] = deque()
        self._numbers = 0
        self._drained: asyncio.Future[None] | None = None
        self._open = True
        self._is_paused = False
        self._loop.add_reader(self._socket, self._on_channel)
        for name, fd in self._raw.items():
            self._loop.add_reader(fd, self._on_raw, name)

    @property
    def worker_fds(self) -> list[int]:
        """Channel, stdout and stderr for the kernel; close them with `release_worker_fds` once it has them."""
        return [self._worker_socket.fileno(), *self._worker_ends]

    def release_worker_fds(self) -> None:
        self._worker_socket.close()
        for fd in self._worker_ends:
            os.close(fd)
        self._worker_ends = []

    def send(self, message: dict[str, object]) -> None:
        """Queues a message; the kernel reads it when it is idle."""
        self._numbers += 1
        self._outgoing.extend((packet,) for packet in packets.fragments(self._numbers, json.dumps(message).encode()))
        self._write()

    async def send_bulk(self, data: bytes | bytearray) -> None:
        """Sends raw bytes, which must not change any more, and waits until the kernel keeps up."""
        step = packets.BULK_BYTES - 1
        head = bytes((packets.BULK,))
        view = memoryview(data)
        self._outgoing.extend((head, view[start : start + step]) for start in range(0, len(view), step))
        if not data:
            self._outgoing.append((head,))
        self._write()
        if len(self._outgoing) > 16 and self._open:
            self._drained = self._loop.create_future()
            await self._drained

    def pause(self) -> None:
        """Also in the middle of a turn: nothing is read until `resume`."""
        self._is_paused = True
        self._loop.remove_reader(self._socket)

    def resume(self) -> None:
        self._is_paused = False
        if self._open:
            self._loop.add_reader(self._socket, self._on_channel)

    def drain(self) -> None:
        """Reads what finished processes left in the pipes, at most one pipe's capacity each, so that a flood cannot block the supervisor."""
        if self._raw_poll.poll(0):
            for name in self._raw:
                self._read_raw(name, _PIPE_BYTES)

    def drain_all(self) -> None:
        """After the kernel's death: reads what it sent. A process that is spared may hold the other end and send on, so there is an end."""
        left = _MAX_REST_BYTES
        for _ in range(_MAX_REST_PACKETS):
            size = self._read_packet() if self._open and left > 0 else 0
            if size == 0:
                break
            left -= size
        self.drain()

    def clear_fragments(self) -> None:
        self._assembler.clear()

    def close(self) -> None:
        if not self._open:
            return
        self._open = False
        for fd in (self._socket.fileno(), *self._raw.values()):
            self._loop.remove_reader(fd)
        self._loop.remove_writer(self._socket)
        self._socket.close()
        for fd in (self._dev_null, *self._raw.values()):
            os.close(fd)
        if self._drained is not None and not self._drained.done():
            self._drained.set_result(None)

    def _on_channel(self) -> None:
        for _ in range(_PACKETS_PER_TURN):
            if not self._open or self._is_paused or not self._read_packet():
                return

    def _read_packet(self) -> int:
        """Returns how many bytes were read, those in the pipes included; 0 when there is no packet."""
        try:
            size = self._socket.recv_into(self._buffer)
        except BlockingIOError:
            return 0
        except OSError:
            size = 0
        if size == 0:
            self._loop.remove_reader(self._socket)
            self._events.on_closed()
            return 0
        kind = self._buffer[0]
        raw = 0
        # What children wrote before this packet comes first. One poll avoids two reads that mostly return nothing.
        if self._raw_poll.poll(0):
            raw = sum(self._read_raw(name, _RAW_READ_BYTES) for name in self._raw)
        if kind == packets.STDOUT:
            self._events.on_text("stdout", self._buffer[1:size])
        elif kind == packets.STDERR:
            self._events.on_text("stderr", self._buffer[1:size])
        elif kind == packets.SKIPPED and size == packets.SKIP.size:
            _, stream, count = packets.SKIP.unpack_from(self._buffer)
            self._events.on_skipped("stderr" if stream == packets.STDERR else "stdout", count)
        elif kind == packets.BULK:
            self._events.on_bulk(bytes(self._buffer[1:size]))
        elif kind == packets.MESSAGE:
            whole = self._assembler.add(self._buffer[:size])
            for dropped in self._assembler.take_dropped():
                self._events.on_dropped(dropped, "bundle_too_large")
            if whole is not None:
                self._on_whole_message(whole)
        return size + raw

    def _on_whole_message(self, body: bytes) -> None:
        try:
            message = json_guard.parse_message(body)
        except json_guard.NotAcceptable as refusal:
            self._events.on_dropped(len(body), str(refusal))
            return
        if message is None:
            self._events.on_dropped(len(body), "not_json")
        else:
            self._events.on_message(message)

    def _on_raw(self, name: str) -> None:
        # Small writes gather meanwhile: a wake-up for each would cost far more. The loop's timers are too coarse for this.
        if self._small_reads > _MAX_SMALL_READS and self._loop.time() - self._last_read_at < _MIN_READ_INTERVAL_SECONDS:
            time.sleep(_PAUSE_SECONDS)
        for _ in range(_FLOOD_ROUNDS):
            if not self._open:
                return
            # The end of a flood stays in the pipe until no more follows: only then is it the end of the stream.
            size = self._skip_raw(name) or self._read_raw(name, 4 * _RAW_READ_BYTES)
            self._small_reads = self._small_reads + 1 if size < _SMALL_READ_BYTES else 0
            if size < _FLOOD_BYTES:
                self._last_read_at = self._loop.time()
                return
            if self._small_reads > _MAX_SMALL_READS:
                time.sleep(_PAUSE_SECONDS)
            else:
                # The flooding process runs first and fills the pipe: one large read costs far less than one per write.
                os.sched_yield()

    def _read_raw(self, name: str, limit: int) -> int:
        """Reads until the pipe is empty or `limit` bytes were read; returns how many."""
        fd = self._raw[name]
        total = self._skip_raw(name)
        while total < limit:
            try:
                size = os.readv(fd, [self._raw_view])
            except BlockingIOError:
                break
            if size == 0:
                self._loop.remove_reader(fd)
                break
            self._events.on_text(name, self._raw_view[:size])
            total += size
            if size < len(self._raw_view):
                break
        return total

    def _skip_raw(self, name: str) -> int:
        """Discards without reading what would not be kept; returns how many bytes."""
        kept = self._events.tail_limit(name)
        if kept is None:
            return 0
        waiting = array("i", (0,))
        fcntl.ioctl(self._raw[name], termios.FIONREAD, waiting)
        if waiting[0] >= _FLOOD_BYTES:
            self._enlarge_pipe(name)
        if waiting[0] - kept < _FLOOD_BYTES:
            return 0
        try:
            size = os.splice(self._raw[name], self._dev_null, waiting[0] - kept)
        except OSError:
            # Some kernels cannot splice these two: then the bytes are read.
            return 0
        self._events.on_skipped(name, size)
        return size

    def _enlarge_pipe(self, name: str) -> None:
        """Enlarges a flooded pipe. Only then: all sandboxes of a host share the quota of pipe memory per user."""
        if name not in self._wide:
            self._wide.add(name)
            with contextlib.suppress(OSError):
                fcntl.fcntl(self._raw[name], fcntl.F_SETPIPE_SZ, _PIPE_BYTES)

    def _write(self) -> None:
        while self._outgoing and self._open:
            try:
                self._socket.sendmsg(self._outgoing[0])
            except BlockingIOError:
                self._loop.add_writer(self._socket, self._write)
                return
            except OSError:
                self._outgoing.clear()
                break
            self._outgoing.popleft()
        if self._open:
            self._loop.remove_writer(self._socket)
        if self._drained is not None and not self._drained.done():
            self._drained.set_result(None)
