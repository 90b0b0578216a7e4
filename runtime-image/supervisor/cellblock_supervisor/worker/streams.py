"""sys.stdout and sys.stderr of the kernel: text goes to the supervisor at once after a pause, in one packet while it floods."""

import io
import os
import threading
import time

from .channel import Channel

# A pause this long since the last packet sends the next line at once; anything younger waits for company.
QUIET_SECONDS = 0.02
FLUSH_EVERY_SECONDS = 0.03
PENDING_CHARACTERS = 32 * 1024


class ChannelStream(io.TextIOBase):
    """A text stream that never loses order with displays (both use one channel) and never buffers without bound."""

    encoding = "utf-8"
    errors = "replace"
    newlines = None

    def __init__(self, channel: Channel, kind: int, name: str, fd: int) -> None:
        self._channel = channel
        self._kind = kind
        self.name = f"<{name}>"
        self.mode = "w"
        self._fd = fd
        self._lock = threading.RLock()
        self._pending: list[str] = []
        self._size = 0
        self._sent_at = 0.0
        self._unbuffered = False
        self._bytes = ByteView(self)

    @property
    def buffer(self) -> "ByteView":
        return self._bytes

    def fileno(self) -> int:
        """The real file descriptor, so that `subprocess.run(..., stdout=sys.stdout)` works; its bytes are captured too."""
        return self._fd

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return False

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        with self._lock:
            self._pending.append(text)
            self._size += len(text)
            if self._size >= PENDING_CHARACTERS or self._unbuffered:
                self.flush()
            elif "\n" in text and time.monotonic() - self._sent_at > QUIET_SECONDS:
                self.flush()
        return len(text)

    def flush(self) -> None:
        if not self._pending:
            return
        with self._lock:
            text = "".join(self._pending)
            self._pending.clear()
            self._size = 0
            self._sent_at = time.monotonic()
            if text:
                self._channel.send_text(self._kind, encode(text))

    def close(self) -> None:
        """User code that closes its stdout must not lose the next cell's output."""
        self.flush()

    def in_forked_child(self) -> None:
        """A child has no flusher thread, and what was pending belongs to its parent."""
        self._lock = threading.RLock()
        self._pending.clear()
        self._size = 0
        self._unbuffered = True


class ByteView(io.RawIOBase):
    """`sys.stdout.buffer`: bytes written here take their place among the text."""

    def __init__(self, stream: ChannelStream) -> None:
        self._stream = stream

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._stream.fileno()

    def write(self, data: object) -> int:
        raw = bytes(memoryview(data).cast("B"))  # type: ignore[arg-type]
        with self._stream._lock:
            self._stream.flush()
            self._stream._channel.send_text(self._stream._kind, raw)
        return len(raw)

    def close(self) -> None:
        self._stream.flush()


def encode(text: str) -> bytes:
    """UTF-8; surrogate pairs become their character and a lone surrogate becomes U+FFFD."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()


class Flusher(threading.Thread):
    """Sends what waits in the streams while a cell runs; asleep otherwise, so an idle kernel uses no CPU."""

    def __init__(self, streams: tuple[ChannelStream, ...]) -> None:
        super().__init__(name="cellblock-flush", daemon=True)
        self._streams = streams
        self.busy = threading.Event()
        os.register_at_fork(before=self.flush, after_in_child=self._in_child)

    def run(self) -> None:
        while self.busy.wait():
            time.sleep(FLUSH_EVERY_SECONDS)
            self.flush()

    def flush(self) -> None:
        for stream in self._streams:
            stream.flush()

    def _in_child(self) -> None:
        for stream in self._streams:
            stream.in_forked_child()
