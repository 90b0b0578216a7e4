"""Listens at the configured address."""

import asyncio
import os
import socket

from ..signing import Verifier
from .connection import READ_BYTES, Connection, Handler


async def listen(address: str, verifier: Verifier, handler: Handler) -> asyncio.Server:
    """`unix:/path` or `tcp:host:port`. Raises OSError when the address cannot be bound."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await Connection(reader, writer, verifier, handler).serve()

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
        return await asyncio.start_unix_server(serve, sock=sock, limit=READ_BYTES, cleanup_socket=False)
    host, _, port = address.removeprefix("tcp:").rpartition(":")

    async def serve_tcp(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await serve(reader, writer)

    return await asyncio.start_server(serve_tcp, host.strip("[]"), int(port), limit=READ_BYTES, reuse_address=True)
