"""Listens at the configured address, except while the sandbox is suspended."""

import asyncio
import contextlib
import os
import socket

from ..signing import Verifier
from .connection import Connection, Handler
from ..socket_stream import SocketStream

# Without the signal of a resumed sandbox the port opens again after this time.
_MAX_CLOSED_SECONDS = 30.0


class ControlPort:
    """Listens at the configured address.

    A sandbox with a bound or connected socket of the host cannot be written to a checkpoint, so a suspension closes all of them. The port opens again
    when the sandbox continues from the checkpoint, or when none came.
    """

    def __init__(self, address: str, verifier: Verifier, handler: Handler) -> None:
        self._address = address
        self._verifier = verifier
        self._handler = handler
        self._resumed = asyncio.Event()

    async def open(self) -> None:
        """Raises OSError when the address cannot be bound."""
        self._server = await _listen(self._address, self._verifier, self._handler)

    def close(self) -> None:
        self._server.close()

    def on_resumed(self) -> None:
        self._resumed.set()

    async def follow(self, requested: asyncio.Event) -> None:
        """Closes the port for each request. Runs until it is cancelled."""
        while True:
            await requested.wait()
            self._resumed.clear()
            await self._close_all()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_MAX_CLOSED_SECONDS):
                    await self._resumed.wait()
            requested.clear()
            await self.open()

    async def _close_all(self) -> None:
        # The reply to the request is sent first.
        await asyncio.sleep(0.01)
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
