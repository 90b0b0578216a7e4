"""Listens at the configured address."""

import asyncio
import os
import socket

from ..signing import Verifier
from .connection import Connection, Handler
from ..socket_stream import SocketStream


async def listen(address: str, verifier: Verifier, handler: Handler) -> asyncio.Server:
    """`unix:/path` or `tcp:host:port`. Raises OSError when the address cannot be bound."""
    loop = asyncio.get_running_loop()

    async def serve(stream: SocketStream) -> None:
        await Connection(stream, verifier, handler).serve()

    if address.startswith("unix:"):
        path = address.removeprefix("unix:")
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        if os.path.exists(path):
            os.unlink(path)
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
