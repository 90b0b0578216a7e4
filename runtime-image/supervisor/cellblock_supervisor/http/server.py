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
        sock.bind(path)
        # The folders above restrict access. The host's user need not be root.
        os.chmod(path, 0o666)
        return await asyncio.start_unix_server(serve, sock=sock, limit=READ_BYTES)
    host, _, port = address.removeprefix("tcp:").rpartition(":")

    async def serve_tcp(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await serve(reader, writer)

    return await asyncio.start_server(serve_tcp, host.strip("[]"), int(port), limit=READ_BYTES, reuse_address=True)
