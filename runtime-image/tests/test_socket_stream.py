"""The bytes of a connection arrive whole and in order, however fast the client and the reader are."""

import asyncio
import os
import socket
import unittest

from cellblock_supervisor.socket_stream import BUFFER_BYTES, SocketStream


class SocketStreams(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        self.client, server = socket.socketpair()
        self.client.setblocking(False)
        self.addCleanup(self.client.close)
        self.loop = asyncio.get_running_loop()
        self.server_fd = server.fileno()
        self.stream = await self._accepted(server)

    async def _accepted(self, server: socket.socket) -> SocketStream:
        connected: asyncio.Future[SocketStream] = self.loop.create_future()

        async def serve(stream: SocketStream) -> None:
            connected.set_result(stream)

        await self.loop.connect_accepted_socket(lambda: SocketStream(serve), server)
        return await connected

    async def test_reads_a_body_that_is_larger_than_the_buffer(self) -> None:
        body = os.urandom(5 * BUFFER_BYTES + 1)
        sending = asyncio.ensure_future(self.loop.sock_sendall(self.client, body))
        received = b""
        while len(received) < len(body):
            piece = await self.stream.read()
            self.assertLessEqual(len(piece), BUFFER_BYTES)
            received += piece
            # More arrives meanwhile, up to a full buffer.
            for _ in range(3):
                await asyncio.sleep(0)
        await sending
        self.assertEqual(received, body)

    async def test_makes_a_fast_client_wait(self) -> None:
        sending = asyncio.ensure_future(self.loop.sock_sendall(self.client, bytes(40 * BUFFER_BYTES)))
        for _ in range(200):
            await asyncio.sleep(0)
        self.assertFalse(sending.done())
        sending.cancel()

    async def test_reads_what_arrived_before_the_end(self) -> None:
        self.client.send(b"last words")
        self.client.shutdown(socket.SHUT_WR)
        for _ in range(5):
            await asyncio.sleep(0)
        self.assertEqual(bytes(await self.stream.read()), b"last words")
        self.assertEqual(bytes(await self.stream.read()), b"")
        # The client still reads.
        self.stream.write(b"the ", b"answer")
        await self.stream.drain()
        self.assertEqual(await self.loop.sock_recv(self.client, 100), b"the answer")

    async def test_an_empty_part_leaves_nothing_to_send(self) -> None:
        self.stream.write(b"answer", b"")
        # The transport closes the connection when everything is sent.
        self.stream.close()
        self.assertEqual(await self.loop.sock_recv(self.client, 100), b"answer")
        self.assertEqual(await asyncio.wait_for(self.loop.sock_recv(self.client, 100), 10), b"")

    async def test_a_writer_waits_for_a_slow_client_and_fails_without_one(self) -> None:
        self.stream.write(bytes(40 * BUFFER_BYTES))
        waiting = asyncio.ensure_future(self.stream.drain())
        for _ in range(5):
            await asyncio.sleep(0)
        self.assertFalse(waiting.done())
        self.client.close()
        with self.assertRaises(ConnectionResetError):
            await asyncio.wait_for(waiting, 10)

    async def test_after_a_late_write_the_next_connection_with_the_same_descriptor_is_read(self) -> None:
        client, server = socket.socketpair()
        self.addCleanup(client.close)
        self.stream.abort()
        self.stream.write(b"too late")
        with self.assertRaises(ConnectionResetError):
            await self.stream.drain()
        with server:
            os.dup2(server.fileno(), self.server_fd)
        following = await self._accepted(socket.socket(fileno=self.server_fd))
        client.send(b"question")
        self.assertEqual(bytes(await asyncio.wait_for(following.read(), 10)), b"question")


if __name__ == "__main__":
    unittest.main()
