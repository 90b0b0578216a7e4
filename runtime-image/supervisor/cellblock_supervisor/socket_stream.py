"""The bytes of one connection. The system writes into one buffer: asyncio's own streams copy each piece three times into new memory."""

import asyncio
from collections.abc import Awaitable, Callable

# Below the size from which the allocator asks the system for memory, so that a copy of one piece costs no page faults.
BUFFER_BYTES = 224 * 1024


class SocketStream(asyncio.BufferedProtocol):
    """Calls `serve(stream)` for a new connection. A client that sends faster than it is read has to wait."""

    def __init__(self, serve: Callable[["SocketStream"], Awaitable[None]], buffer_bytes: int = BUFFER_BYTES) -> None:
        self._serve = serve
        self._loop = asyncio.get_running_loop()
        self._buffer = memoryview(bytearray(buffer_bytes))
        self._filled = 0
        self._is_paused = False
        self._has_ended = False
        self._is_lost = False
        self._failure: Exception | None = None
        self._reader: asyncio.Future[None] | None = None
        self._writer: asyncio.Future[None] | None = None
        self._is_congested = False

    async def read(self) -> memoryview:
        """What has arrived, or nothing at the end; valid until the caller waits again. Raises ConnectionError."""
        await self.readable()
        piece = self._buffer[: self._filled]
        self._filled = 0
        if self._is_paused:
            self._is_paused = False
            self._transport.resume_reading()
        if not piece and self._failure is not None:
            raise self._failure
        return piece

    async def readable(self) -> None:
        """Returns when something has arrived, or at the end."""
        while self._filled == 0 and not self._has_ended:
            self._reader = self._loop.create_future()
            await self._reader

    def write(self, *parts: bytes | bytearray | memoryview) -> None:
        """Drops what a connection can no longer send; `drain` says so."""
        # asyncio would register the descriptor of a closed connection, and the next connection with that number would never be read (python/cpython#136234).
        if self._transport.is_closing():
            return
        # asyncio never counts an empty part as sent: it would try again and again, with a whole processor (python/cpython#155888).
        self._transport.writelines([part for part in parts if part])

    async def drain(self) -> None:
        """Returns when the client keeps up. Raises ConnectionResetError when it is gone."""
        if self._transport.is_closing():
            # The transport reports its end in the next turn of the loop.
            await asyncio.sleep(0)
        if self._is_congested and not self._is_lost:
            self._writer = self._loop.create_future()
            await self._writer
        if self._is_lost:
            raise ConnectionResetError("the connection ended")

    def end_writing(self) -> None:
        """The client reads the end; it may still write. What was written is still sent."""
        if not self._transport.is_closing():
            self._transport.write_eof()

    def close(self) -> None:
        """What was written is still sent."""
        self._transport.close()

    def abort(self) -> None:
        self._transport.abort()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._transport = transport
        self._task = asyncio.ensure_future(self._serve(self))

    def connection_lost(self, exc: Exception | None) -> None:
        self._is_lost = self._has_ended = True
        self._failure = exc
        _wake(self._reader)
        _wake(self._writer)

    def get_buffer(self, _size: int) -> memoryview:
        return self._buffer[self._filled :]

    def buffer_updated(self, nbytes: int) -> None:
        self._filled += nbytes
        if self._filled == len(self._buffer):
            self._is_paused = True
            self._transport.pause_reading()
        _wake(self._reader)

    def eof_received(self) -> bool:
        self._has_ended = True
        _wake(self._reader)
        # The client may still read.
        return True

    def pause_writing(self) -> None:
        self._is_congested = True

    def resume_writing(self) -> None:
        self._is_congested = False
        _wake(self._writer)


def _wake(waiter: asyncio.Future[None] | None) -> None:
    if waiter is not None and not waiter.done():
        waiter.set_result(None)
