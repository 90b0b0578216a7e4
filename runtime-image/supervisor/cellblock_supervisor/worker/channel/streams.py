"""sys.stdout and sys.stderr of the kernel: ordinary text streams whose bytes become packets of the channel.

Text and displays share one channel, so their order is kept; a full channel blocks the writer, so a flood is bounded. This module counts
bytes that the supervisor would drop, and does not send them. That saves time and is no protection: the supervisor has its own caps.
"""

import codecs
import io
import os
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass

# Bound here, so that user code that replaces the clock does not stop the flusher.
from time import monotonic, sleep

from ...tail import Tail
from .channel import Channel

# Output is sent at least this often while a cell runs, and at its end.
FLUSH_EVERY_SECONDS = 0.03
# After a cell the flusher polls this long before it waits: a cell that follows soon need not wake it.
_LINGER_SECONDS = 1.0
_BUFFER_BYTES = 32 * 1024

# Lone surrogates have no UTF-8: they become U+FFFD instead of an exception in the user's print.
codecs.register_error("cellblock", lambda error: (b"\xef\xbf\xbd" * (error.end - error.start), error.end))


class ChannelWriter(io.RawIOBase):
    """The raw end of a stream. `before` runs first: stderr uses it to flush stdout."""

    def __init__(self, channel: Channel, kind: int, name: str, fd: int, before: Callable[[], None] | None) -> None:
        self._channel = channel
        self._kind = kind
        self._fd = fd
        self._before = before
        self.name = f"<{name}>"
        self.mode = "wb"

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        """The real descriptor, so that `subprocess.run(..., stdout=sys.stdout)` works; its bytes are captured too."""
        return self._fd

    def write(self, data: bytes | memoryview) -> int:
        if self._before is not None:
            self._before()
        view = memoryview(data).cast("B")
        self._channel.send_text(self._kind, view)
        return len(view)

    def skip(self, size: int) -> None:
        """Reports bytes that are not sent."""
        self._channel.send_skipped(self._kind, size)


class ChannelBuffer(io.BufferedWriter):
    """Collects small writes. Past the number of bytes that would be kept it holds only the end, until the next release."""

    def __init__(self, writer: ChannelWriter) -> None:
        super().__init__(writer, _BUFFER_BYTES)
        self.reset()

    def reset(self) -> None:
        """Discards what is held, as in a forked child, which has no thread that holds the lock or releases."""
        self._lock = threading.RLock()
        self.send_all()

    def set_limits(self, size: int, tail_bytes: int) -> None:
        """From now on the first `size` bytes are sent at once; of the rest only the count and the end, at every release."""
        with self._lock:
            self._left, self._tail = size, Tail(tail_bytes)

    def send_all(self) -> None:
        self.set_limits(sys.maxsize, 0)

    def write(self, data: bytes | memoryview) -> int:
        # The fast path of a flood.
        if self._left == 0 and type(data) is bytes:
            with self._lock:
                self._tail.add(data)
            return len(data)
        size = len(data) if type(data) is bytes else memoryview(data).nbytes
        if size <= self._left:
            super().write(data)
            self._left -= size
            return size
        with self._lock:
            if self._left > 0:
                data = memoryview(data).cast("B")
                super().write(data[: self._left])
                data = data[self._left :]
                self._left = 0
            self._tail.add(data if isinstance(data, bytes) else memoryview(data).cast("B"))
        return size

    def release(self) -> None:
        with self._lock:
            if not self._tail:
                return
            self.flush()
            end, dropped = self._tail.take(), self._tail.dropped
            self._tail.dropped = 0
            if dropped:
                self.raw.skip(dropped)
            if end:
                self.raw.write(end)

    def close(self) -> None:
        """Keeps the stream open: user code that closes stdout must not lose the output of later cells."""
        self.flush()


@dataclass(frozen=True)
class ChannelText:
    """A text stream of the kernel and the buffer below it, which user code may detach."""

    text: io.TextIOWrapper
    buffer: ChannelBuffer

    @staticmethod
    def over(channel: Channel, kind: int, name: str, fd: int, before: Callable[[], None] | None = None) -> "ChannelText":
        """stdout collects until the next flush; a stream with `before` sends every line at once. A subclass of TextIOWrapper would write slower."""
        buffer = ChannelBuffer(ChannelWriter(channel, kind, name, fd, before))
        text = io.TextIOWrapper(buffer, "utf-8", "cellblock", "\n", line_buffering=before is not None)
        # The size of the text layer's chunks; the default of 8 KiB would call the buffer four times as often.
        text._CHUNK_SIZE = _BUFFER_BYTES
        return ChannelText(text, buffer)


class Flusher(threading.Thread):
    """Flushes the streams while a cell runs; otherwise it waits, so that an idle kernel uses no processor time."""

    def __init__(self, streams: tuple[ChannelText, ...], after: Callable[[], None]) -> None:
        """`after` is called after each flush."""
        super().__init__(name="cellblock-flush", daemon=True)
        self._streams = streams
        self._after = after
        self._is_busy = self._is_waiting = False
        self._cell_started_at = 0.0
        self._wake = threading.Event()
        # A forked child has no flusher thread, and must not repeat what its parent had pending.
        os.register_at_fork(before=self.flush, after_in_child=self._in_child)

    def begin(self) -> None:
        """Called when a cell starts."""
        self._cell_started_at = monotonic()
        self._is_busy = True
        if self._is_waiting:
            self._wake.set()

    def end(self) -> None:
        self._is_busy = False
        self.flush()

    def run(self) -> None:
        flushed = 0.0
        while True:
            now = monotonic()
            if self._is_busy:
                due = max(self._cell_started_at, flushed) + FLUSH_EVERY_SECONDS
                if now >= due:
                    self.flush()
                    flushed, due = now, now + FLUSH_EVERY_SECONDS
                sleep(due - now)
            elif now < self._cell_started_at + _LINGER_SECONDS:
                sleep(FLUSH_EVERY_SECONDS)
            else:
                self._wait_for_cell()

    def _wait_for_cell(self) -> None:
        # Both sides set their flag before they read the other one, so at least one of them sees the other.
        self._is_waiting = True
        if not self._is_busy:
            self._wake.wait()
        self._wake.clear()
        self._is_waiting = False

    def flush(self) -> None:
        for stream in self._streams:
            try:
                stream.text.flush()
                stream.buffer.release()
            except (ValueError, OSError, RuntimeError):
                # A detached stream, a lost channel or a nested flush: there is no way to report it.
                pass
        self._after()

    def _in_child(self) -> None:
        for stream in self._streams:
            try:
                stream.buffer.reset()
                stream.text.reconfigure(line_buffering=True)
            except (ValueError, OSError):
                pass
