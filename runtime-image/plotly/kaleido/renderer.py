"""The program that draws: it starts with the first picture, draws the next ones, and ends after 20 seconds without any."""

import json
import os
import select
import subprocess
import tempfile
import threading
import time

from .errors import DrawingError

# Drawing fills the young generation often, so a larger one saves a fifth of the time. The image's build compiles plotly.js with the same options.
_COMMAND = ("node", "--min-semi-space-size=32", "--max-semi-space-size=64", "/opt/cellblock/plotly/render.mjs")
# Then another program starts: what libraries keep of earlier figures stays small.
_MAX_PICTURES = 200
_READ_BYTES = 256 * 1024
_MAX_ERROR_BYTES = 64 * 1024

_lock = threading.Lock()
_current = None


def draw(request, timeout):
    """The picture as bytes. Raises DrawingError, and TimeoutError after `timeout` seconds."""
    global _current
    with _lock:
        renderer, _current = _current, None
        if renderer is None or not renderer.is_usable:
            renderer = _Renderer()
        try:
            return renderer.ask(request, time.monotonic() + timeout)
        except (DrawingError, TimeoutError):
            raise
        except BaseException:
            # The next picture would be the answer to this request.
            renderer.end()
            raise
        finally:
            _current = renderer


class _Renderer:
    def __init__(self):
        self._owner = os.getpid()
        self._pictures = 0
        self._errors = tempfile.TemporaryFile()
        # In a separate session: an interrupt of the cell is for the program that waits.
        self._process = subprocess.Popen(
            _COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, bufsize=0, start_new_session=True
        )

    @property
    def is_usable(self):
        """A forked process must not read the answers of its parent."""
        if self._owner != os.getpid():
            return False
        if self._pictures >= _MAX_PICTURES:
            self.end()
        return self._process.poll() is None

    def ask(self, request, deadline):
        self._pictures += 1
        try:
            self._write(b"%d\n%b" % (len(request), request), deadline)
            line, rest = self._read(deadline, lambda data: data.partition(b"\n")[::2] if b"\n" in data else None)
            head = json.loads(line)
            picture = self._read(deadline, lambda data: data if len(data) >= head["length"] else None, rest)
        except (BrokenPipeError, EOFError):
            self.end()
            raise DrawingError(f"The figure could not be drawn: {self._reason()}") from None
        if head["error"] is not None:
            raise DrawingError(f"The figure could not be drawn: {head['error']}")
        return bytes(picture)

    def end(self):
        self._process.kill()
        self._process.wait()

    def _write(self, data, deadline):
        while data:
            self._wait([], [self._process.stdin], deadline)
            data = data[os.write(self._process.stdin.fileno(), data[:select.PIPE_BUF]) :]

    def _read(self, deadline, complete, data=b""):
        data = bytearray(data)
        while (found := complete(data)) is None:
            self._wait([self._process.stdout], [], deadline)
            piece = os.read(self._process.stdout.fileno(), _READ_BYTES)
            if not piece:
                raise EOFError
            data += piece
        return found

    def _wait(self, readers, writers, deadline):
        if not any(select.select(readers, writers, [], max(0, deadline - time.monotonic()))):
            self.end()
            raise TimeoutError("The figure was not drawn in time. Draw less data.")

    def _reason(self):
        """Node.js, or the system, has ended the program."""
        self._errors.seek(0)
        lines = self._errors.read(_MAX_ERROR_BYTES)
        if b"out of memory" in lines or self._process.returncode == -9:
            return "It needs more memory than the sandbox has left. Draw less data."
        return f"Node.js ended with code {self._process.returncode}."
