"""Connections from outside to programs of user code that listen on a port.

Programs listen on 127.0.0.1 by the loopback layer, which is a Unix socket of the worker. The files helper connects to it with the worker's rights, and the
connection is joined with one of the control port. Its bytes are copied; nothing is parsed.
"""

import asyncio
import contextlib
import re
import socket
from collections.abc import Awaitable, Callable

from ..files.client import FileError
from ..socket_stream import SocketStream
from ..worker.isolation import loopback

# Each has a buffer of the control port and one of these.
MAX_CONNECTIONS = 48
_BUFFER_BYTES = 64 * 1024
# What is read of the system's list of sockets: user code decides how many there are.
_MAX_LIST_BYTES = 4 * 1024 * 1024
_MAX_PORTS = 200
_LISTENS = 0x10000

Connect = Callable[[int], Awaitable[socket.socket]]


class Ports:
    def __init__(self, connect: Connect, folder: str = loopback.FOLDER) -> None:
        """`connect(port)` raises FileError."""
        self._connect = connect
        self._folder = folder
        self._open = 0

    def listening(self) -> list[int]:
        """Ports on which programs listen, in order."""
        with open("/proc/net/unix", "rb") as file:
            table = file.read(_MAX_LIST_BYTES)
        name = re.escape(self._folder.encode())
        line = re.compile(rb"^\S+ \S+ \S+ ([0-9A-F]{8}) \S+ \S+ +\d+ " + name + rb"/[TX]01([0-9A-F]{4})$", re.MULTILINE)
        found = {int(port, 16) for flags, port in line.findall(table) if int(flags, 16) & _LISTENS}
        return sorted(found)[:_MAX_PORTS]

    async def serve(self, visitor: SocketStream, head: bytes, port: int) -> None:
        """Sends `head` once a program has the connection, and copies until one side ends. Without a program it ends the connection."""
        if self._open >= MAX_CONNECTIONS:
            return
        self._open += 1
        try:
            program = await self._program(port)
            if program is not None:
                visitor.write(head)
                await _join(visitor, program)
        finally:
            self._open -= 1

    async def _program(self, port: int) -> SocketStream | None:
        try:
            connection = await self._connect(port)
        except FileError:
            return None
        # A link of user code may lead to a socket that only this sandbox's supervisor should reach. The name is the one that the listener has bound.
        if connection.getpeername() not in loopback.server_paths(port, self._folder):
            connection.close()
            return None
        connection.setblocking(False)
        loop = asyncio.get_running_loop()
        _, stream = await loop.create_unix_connection(lambda: SocketStream(_ignore, _BUFFER_BYTES), sock=connection)
        return stream


async def _ignore(_stream: SocketStream) -> None:
    """A stream that another task reads."""


async def _join(visitor: SocketStream, program: SocketStream) -> None:
    """Copies both ways. The end of either side ends both: a program that waits would otherwise hold the connection of a visitor who has left."""
    copies = [asyncio.ensure_future(_copy(visitor, program)), asyncio.ensure_future(_copy(program, visitor))]
    try:
        await asyncio.wait(copies, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for copy in copies:
            copy.cancel()
        await asyncio.gather(*copies, return_exceptions=True)
        visitor.close()
        program.close()


async def _copy(source: SocketStream, target: SocketStream) -> None:
    with contextlib.suppress(ConnectionError):
        while piece := await source.read():
            # The transport keeps what it cannot send at once, and the buffer is used again.
            target.write(bytes(piece))
            await target.drain()
