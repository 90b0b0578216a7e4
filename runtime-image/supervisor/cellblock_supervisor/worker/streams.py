"""sys.stdout and sys.stderr of the kernel: ordinary text streams whose bytes become packets of the channel.

Text and displays travel on one channel, so their order is kept; a full channel blocks the writer, so a flood stays bounded.
"""

import codecs
import io
import os
import threading
import time
from collections.abc import Callable

from .channel import Channel

# What a cell prints is sent at least this often while it runs, and at its end.
FLUSH_EVERY_SECONDS = 0.03
_BUFFER_BYTES = 32 * 1024

# Lone surrogates have no UTF-8: they become U+FFFD instead of an exception in the user's print.
codecs.register_error("cellblock", lambda error: (b"\xef\xbf\xbd" * (error.end - error.start), error.end))


class ChannelWriter(io.RawIOBase):
    """The raw end of a stream. `before` runs first: stderr uses it to let stdout go ahead."""

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


class ChannelBuffer(io.BufferedWriter):
    def close(self) -> None:
        """User code that closes its stdout must not lose the next cell's output."""
        self.flush()


class ChannelText(io.TextIOWrapper):
    def close(self) -> None:
        self.flush()


def text_stream(channel: Channel, kind: int, name: str, fd: int, before: Callable[[], None] | None = None) -> ChannelText:
    """stdout collects until the next flush; a stream with `before` sends every line at once."""
    buffer = ChannelBuffer(ChannelWriter(channel, kind, name, fd, before), _BUFFER_BYTES)
    return ChannelText(buffer, "utf-8", "cellblock", "\n", line_buffering=before is not None)


class Flusher(threading.Thread):
    """Sends what waits in the streams while a cell runs; asleep otherwise, so an idle kernel uses no CPU."""

    def __init__(self, streams: tuple[ChannelText, ...]) -> None:
        super().__init__(name="cellblock-flush", daemon=True)
        self._streams = streams
        self.busy = threading.Event()
        # A forked child has no flusher thread, and must not repeat what its parent had pending.
        os.register_at_fork(before=self.flush, after_in_child=self._in_child)

    def run(self) -> None:
        while self.busy.wait():
            time.sleep(FLUSH_EVERY_SECONDS)
            self.flush()

    def flush(self) -> None:
        for stream in self._streams:
            try:
                stream.flush()
            except (ValueError, OSError, RuntimeError):
                # A detached stream, a lost channel or a flush inside a flush: nothing that could be reported from here.
                pass

    def _in_child(self) -> None:
        for stream in self._streams:
            try:
                stream.reconfigure(line_buffering=True)
            except (ValueError, OSError):
                pass
