"""Listens at the configured address, except while the sandbox is suspended."""

import asyncio
import contextlib
import os
import socket
from collections.abc import Awaitable, Callable

from ..signing import Verifier
from .connection import Connection, Handler
from ..socket_stream import SocketStream

# The host makes this file beside the socket before a sandbox continues from its checkpoint. In a copy of a sandbox it has the copy's identity.
_RESUMED_MARK = "resumed"
_MAX_MARK_BYTES = 1024
_POLL_SECONDS = 0.003
# Without the mark the port opens again after 30 s. They are counted, because clocks include the time in the checkpoint.
_MAX_POLLS = 10_000


class ControlPort:
    """Listens at the configured address.

    A sandbox with a bound or connected socket of the host cannot be written to a checkpoint, so a suspension closes all of them. The port opens again
    when the sandbox continues from the checkpoint, or when none came.
    """

    def __init__(
        self,
        address: str,
        verifier: Verifier,
        handler: Handler,
        become_copy: Callable[[bytes], Awaitable[Verifier]],
        on_resumed: Callable[[], None],
    ) -> None:
        self._address = address
        self._verifier = verifier
        self._handler = handler
        self._become_copy = become_copy
        self._on_resumed = on_resumed
        self._mark = os.path.join(os.path.dirname(address.removeprefix("unix:")), _RESUMED_MARK)

    async def open(self) -> None:
        """Raises OSError when the address cannot be bound."""
        self._server = await _listen(self._address, self._verifier, self._handler)

    def close(self) -> None:
        self._server.close()

    async def follow(self, requested: asyncio.Event) -> None:
        """Closes the port for each request, which `on_resumed` clears. Runs until it is cancelled."""
        while True:
            await requested.wait()
            # One that is left would say so before there is a checkpoint.
            self._remove_mark()
            await self._close_all()
            for _ in range(_MAX_POLLS):
                if os.path.lexists(self._mark):
                    break
                await asyncio.sleep(_POLL_SECONDS)
            identity = self._read_mark()
            if identity:
                self._verifier = await self._become_copy(identity)
            self._on_resumed()
            await self.open()
            self._remove_mark()

    def _read_mark(self) -> bytes:
        with contextlib.suppress(OSError), open(self._mark, "rb") as file:
            return file.read(_MAX_MARK_BYTES)
        return b""

    def _remove_mark(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._mark)

    async def _close_all(self) -> None:
        for listening in self._server.sockets:
            asyncio.get_running_loop().remove_reader(listening.fileno())
        # The turn of the loop that requested this has sent its reply. A connection that it accepted is a client of the server in the next one.
        await asyncio.sleep(0)
        self._server.close()
        self._server.abort_clients()
        await self._server.wait_closed()
        # Its absence says to the host that nothing is open any more.
        _remove_socket(self._address)


def _remove_socket(address: str) -> None:
    path = address.removeprefix("unix:")
    if path != address and os.path.exists(path):
        os.unlink(path)


async def _listen(address: str, verifier: Verifier, handler: Handler) -> asyncio.Server:
    """`unix:/path` or `tcp:host:port`. Raises OSError when the address cannot be bound."""
    loop = asyncio.get_running_loop()

    async def serve(stream: SocketStream) -> None:
        await Connection(stream, verifier, handler).serve()

    if address.startswith("unix:"):
        path = address.removeprefix("unix:")
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        _remove_socket(address)
        # The folders above restrict access. The host's user need not be root. gVisor refuses chmod here, so the mask gives the mode.
        mask = os.umask(0o111)
        try:
            sock.bind(path)
        finally:
            os.umask(mask)
        # With cleanup_socket asyncio would look the path up, which gVisor refuses. The folder ends with the sandbox.
        return await loop.create_unix_server(lambda: SocketStream(serve), sock=sock, cleanup_socket=False)
    host, _, port = address.removeprefix("tcp:").rpartition(":")
    # asyncio sets TCP_NODELAY.
    return await loop.create_server(lambda: SocketStream(serve), host.strip("[]"), int(port), reuse_address=True)
