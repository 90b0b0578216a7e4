"""Connections of user code to the network gateway, while the container has a policy.

User code reaches a Unix socket here as a proxy on 127.0.0.1, by the loopback layer. The gateway keeps connections to the control port that wait for user
code. Each pair is joined and its bytes are copied. Nothing is parsed, and no connection begins here.
"""

import asyncio
import contextlib
import os
import socket
from collections import deque
from collections.abc import Iterator

from ..config import NETWORK_DIR
from ..socket_stream import SocketStream
from ..worker.isolation.loopback import PROXY_SOCKET

# Each has two buffers of 224 KiB, which count as memory of the sandbox.
MAX_CONNECTIONS = 48
MAX_WAITING = 16
# A gateway that was restarted is back within this time. Then the program gets an answer instead of waiting.
_GATEWAY_SECONDS = 10.0
_NO_GATEWAY = "The network gateway does not answer. Run the code again. If that fails too, ask the operator."
_TOO_MANY = f"This sandbox has {MAX_CONNECTIONS} open connections, the maximum. Close some."


class _Waiting:
    """A connection of the gateway that waits for user code."""

    def __init__(self, gateway: SocketStream, head: bytes) -> None:
        self.gateway = gateway
        self.head = head
        self.taken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.finished = asyncio.Event()


class Network:
    """Closed before `open` and after `close`."""

    def __init__(self, folder: str = NETWORK_DIR, socket_path: str = PROXY_SOCKET, gateway_seconds: float = _GATEWAY_SECONDS) -> None:
        self._ca_file = f"{folder}/ca.pem"
        self._socket_path = socket_path
        self._gateway_seconds = gateway_seconds
        self._server: asyncio.Server | None = None
        self._waiting: deque[_Waiting] = deque()
        self._arrived = asyncio.Event()
        self._streams: set[SocketStream] = set()
        self._users = 0

    @property
    def is_open(self) -> bool:
        return self._server is not None

    @property
    def has_space(self) -> bool:
        return len(self._waiting) < MAX_WAITING

    async def open(self, ca: str) -> str:
        """Writes the gateway's certificate for user code and listens; returns the certificate's file. Repeated, it replaces it. Raises OSError."""
        incoming = f"{self._ca_file}.{os.urandom(6).hex()}"
        with open(incoming, "w", encoding="ascii") as file:
            file.write(ca)
        os.rename(incoming, self._ca_file)
        if self._server is None:
            listener = _listener(self._socket_path)
            loop = asyncio.get_running_loop()
            self._server = await loop.create_unix_server(lambda: SocketStream(self._serve_user), sock=listener, cleanup_socket=False)
        return self._ca_file

    def close(self) -> None:
        """Ends every connection of user code at once."""
        if self._server is None:
            return
        self._server.close()
        self._server = None
        for path in (self._socket_path, self._ca_file):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
        for stream in list(self._streams):
            stream.abort()

    async def serve_gateway(self, gateway: SocketStream, head: bytes) -> None:
        """Waits for a connection of user code, sends `head` then and copies. Returns when both have ended, or when the gateway stops waiting."""
        place = _Waiting(gateway, head)
        self._waiting.append(place)
        self._arrived.set()
        with self._open(gateway):
            unexpected = asyncio.ensure_future(gateway.readable())
            try:
                await asyncio.wait((unexpected, place.taken), return_when=asyncio.FIRST_COMPLETED)
                if place.taken.done():
                    await place.finished.wait()
            finally:
                unexpected.cancel()
                if place in self._waiting:
                    self._waiting.remove(place)

    async def _serve_user(self, user: SocketStream) -> None:
        if self._users >= MAX_CONNECTIONS:
            _refuse(user, _TOO_MANY)
            return
        self._users += 1
        place = None
        try:
            with self._open(user):
                async with asyncio.timeout(self._gateway_seconds):
                    place = await self._next_gateway()
                place.gateway.write(place.head)
                await _join(user, place.gateway)
        except TimeoutError:
            _refuse(user, _NO_GATEWAY)
        finally:
            self._users -= 1
            if place is not None:
                place.finished.set()

    async def _next_gateway(self) -> _Waiting:
        while not self._waiting:
            self._arrived.clear()
            await self._arrived.wait()
        place = self._waiting.popleft()
        place.taken.set_result(None)
        return place

    @contextlib.contextmanager
    def _open(self, stream: SocketStream) -> Iterator[None]:
        self._streams.add(stream)
        try:
            yield
        finally:
            self._streams.discard(stream)


def _listener(path: str) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    # The worker may connect. gVisor refuses chmod on a socket, so the mask gives the mode.
    mask = os.umask(0o111)
    try:
        listener.bind(path)
    except OSError:
        listener.close()
        raise
    finally:
        os.umask(mask)
    return listener


async def _join(user: SocketStream, gateway: SocketStream) -> None:
    try:
        async with asyncio.TaskGroup() as copies:
            copies.create_task(_copy(user, gateway))
            copies.create_task(_copy(gateway, user))
    except* ConnectionError:
        user.abort()
        gateway.abort()
    finally:
        user.close()
        gateway.close()


async def _copy(source: SocketStream, target: SocketStream) -> None:
    while piece := await source.read():
        # The transport keeps what it cannot send at once, and the buffer is used again.
        target.write(bytes(piece))
        await target.drain()
    target.end_writing()


def _refuse(user: SocketStream, sentence: str) -> None:
    body = f"{sentence}\n"
    user.write(f"HTTP/1.1 503 {sentence}\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n{body}".encode())
    user.close()
