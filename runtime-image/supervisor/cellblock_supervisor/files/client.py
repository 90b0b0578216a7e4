"""The supervisor's side of the files helper: one request at a time, descriptors checked before they are trusted."""

import asyncio
import contextlib
import json
import os
import signal
import socket
import stat
from collections.abc import Awaitable, Callable

from .. import packets

# Receives the exit code, or the signal, of the process.
ExitWatcher = Callable[[int | None, int | None], None]
# A helper that takes longer (for at most some ten thousand entries) is stuck and is replaced.
TIMEOUT_SECONDS = 20.0


class FileError(Exception):
    """An operation on /mnt/data failed: `code` is an errno's name or `refused`."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


class _Helper:
    """A process that serves the other end of `socket`."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self.pid = 0
        self._has_exited = False

    def on_exit(self, _code: int | None, _signal: int | None) -> None:
        self._has_exited = True

    def end(self) -> None:
        self.socket.close()
        # Linux may have given the id of an ended process to another one.
        if not self._has_exited:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)


class FilesClient:
    def __init__(self, fork: Callable[[int, ExitWatcher], Awaitable[int]]) -> None:
        """`fork(fd, on_exit)` starts a helper that serves the other end of a socket, and returns its process id."""
        self._lock = asyncio.Lock()
        self._fork = fork
        self._helper: _Helper | None = None

    async def scan(self) -> dict[str, list[list[object]]]:
        reply, _ = await self._ask({"op": "scan"})
        return reply  # type: ignore[return-value]

    async def open(self, path: str) -> int:
        """A descriptor of a regular file, which is checked again here."""
        _, fd = await self._ask({"op": "open", "path": path})
        return _regular(fd)

    async def create(self, path: str) -> tuple[int, str]:
        """A descriptor to write an upload to, and the token to commit or abort it with."""
        reply, fd = await self._ask({"op": "create", "path": path})
        return _regular(fd), str(reply["token"])

    async def commit(self, token: str) -> list[int]:
        """Inode, size, mtime and ctime of the file at its final path."""
        reply, _ = await self._ask({"op": "commit", "token": token})
        return reply["file"]  # type: ignore[return-value]

    async def abort(self, token: str) -> None:
        await self._ask({"op": "abort", "token": token})

    async def remove(self, path: str) -> None:
        await self._ask({"op": "remove", "path": path})

    async def connect(self, port: int) -> socket.socket:
        """A connection to a socket where a program that listens on the port has its own. The caller checks whose it is."""
        _, fd = await self._ask({"op": "connect", "port": str(port)})
        if fd < 0:
            raise FileError("EIO", "the files helper answered without a connection")
        return socket.socket(fileno=fd)

    async def _ask(self, request: dict[str, str]) -> tuple[dict[str, object], int]:
        async with self._lock:
            for attempt in (1, 2):
                try:
                    helper = self._helper or await self._start()
                    async with asyncio.timeout(TIMEOUT_SECONDS):
                        reply, fd = await self._exchange(helper.socket, json.dumps(request).encode())
                    break
                except (TimeoutError, OSError, EOFError, ValueError):
                    self._end()
                    if attempt == 2 or request["op"] == "commit":
                        raise FileError("EIO", "the files helper does not answer") from None
        if "error" in reply:
            raise FileError(str(reply["error"]), str(reply.get("reason", "")))
        return reply, fd

    async def _exchange(self, helper: socket.socket, request: bytes) -> tuple[dict[str, object], int]:
        loop = asyncio.get_running_loop()
        helper.send(request)
        assembler = packets.Assembler(max_bytes=32 * 1024 * 1024)
        received = -1
        while True:
            readable = loop.create_future()
            loop.add_reader(helper, lambda: readable.done() or readable.set_result(None))
            try:
                await readable
            finally:
                loop.remove_reader(helper)
            while True:
                try:
                    packet, fds, _, _ = socket.recv_fds(helper, packets.PACKET_BYTES, 1)
                except BlockingIOError:
                    break
                if not packet:
                    raise EOFError
                if fds:
                    received = fds[0]
                whole = assembler.add(packet)
                if whole is not None:
                    return json.loads(whole), received

    async def _start(self) -> _Helper:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setblocking(False)
        helper = _Helper(ours)
        try:
            with theirs:
                helper.pid = await self._fork(theirs.fileno(), helper.on_exit)
        except BaseException:
            ours.close()
            raise
        self._helper = helper
        return helper

    def _end(self) -> None:
        """Ends a helper that failed. The next request starts another one."""
        helper, self._helper = self._helper, None
        if helper is not None:
            helper.end()


def _regular(fd: int) -> int:
    if fd < 0:
        raise FileError("EIO", "the files helper answered without a file")
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise FileError("refused", "not_regular")
    return fd
