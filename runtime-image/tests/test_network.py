"""Connections of user code to the gateway: joined in pairs, bounded, closed with the policy."""

import asyncio
import os
import stat
import tempfile
import unittest
from collections.abc import Callable

from cellblock_supervisor.network.network import MAX_CONNECTIONS, MAX_WAITING, Network
from cellblock_supervisor.socket_stream import SocketStream

Pair = tuple[asyncio.StreamReader, asyncio.StreamWriter]
HEAD = b"HTTP/1.1 101 \r\n\r\n"


class Networks(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.network = Network(self.folder, f"{self.folder}/proxy", gateway_seconds=5)
        self.addCleanup(self.network.close)
        await self.network.open("certificate")
        loop = asyncio.get_running_loop()
        self.control = f"{self.folder}/control"

        async def serve(stream: SocketStream) -> None:
            await self.network.serve_gateway(stream, HEAD)
            stream.close()

        server = await loop.create_unix_server(lambda: SocketStream(serve), self.control)
        self.addCleanup(server.close)

    async def connect(self, path: str) -> Pair:
        reader, writer = await asyncio.open_unix_connection(path)
        self.addCleanup(writer.close)
        return reader, writer

    async def gateway(self) -> Pair:
        """A connection of the gateway that waits."""
        before = self.waiting()
        pair = await self.connect(self.control)
        await self.until(lambda: self.waiting() > before)
        return pair

    def waiting(self) -> int:
        return len(self.network._waiting)

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(30):
            while not condition():
                await asyncio.sleep(0)

    async def test_joins_user_code_with_a_waiting_connection_and_copies_both_ways(self) -> None:
        gateway = await self.gateway()
        user = await self.connect(f"{self.folder}/proxy")
        user[1].write(b"request")
        self.assertEqual(await gateway[0].readexactly(len(HEAD) + 7), HEAD + b"request")
        body = os.urandom(3_000_000)
        gateway[1].write(body)
        gateway[1].write_eof()
        self.assertEqual(await user[0].read(-1), body)
        # The end of one direction is not the end of the other.
        user[1].write(b"more")
        user[1].write_eof()
        self.assertEqual(await gateway[0].read(-1), b"more")

    async def test_user_code_that_came_first_waits_for_the_gateway(self) -> None:
        user = await self.connect(f"{self.folder}/proxy")
        gateway = await self.connect(self.control)
        user[1].write(b"x")
        self.assertEqual(await gateway[0].readexactly(len(HEAD) + 1), HEAD + b"x")

    async def test_user_code_gets_an_answer_when_no_gateway_comes(self) -> None:
        self.network._gateway_seconds = 0.01
        user = await self.connect(f"{self.folder}/proxy")
        answer = await user[0].read(-1)
        self.assertTrue(answer.startswith(b"HTTP/1.1 503 The network gateway does not answer."), answer)

    async def test_a_gateway_that_left_gets_no_user_code(self) -> None:
        _, leaving = await self.gateway()
        leaving.close()
        await self.until(lambda: self.waiting() == 0)
        gateway = await self.gateway()
        user = await self.connect(f"{self.folder}/proxy")
        user[1].write(b"x")
        self.assertEqual(await gateway[0].readexactly(len(HEAD) + 1), HEAD + b"x")

    async def test_a_gateway_that_speaks_first_is_disconnected(self) -> None:
        reader, writer = await self.gateway()
        writer.write(b"x")
        self.assertEqual(await reader.read(-1), b"")

    async def test_bounds_connections_of_user_code(self) -> None:
        users = [await self.connect(f"{self.folder}/proxy") for _ in range(MAX_CONNECTIONS)]
        await self.until(lambda: self.network._users == MAX_CONNECTIONS)
        answer = await (await self.connect(f"{self.folder}/proxy"))[0].read(-1)
        self.assertIn(b"503 This sandbox has 48 open connections", answer)
        for _, writer in users:
            writer.close()
        await self.until(lambda: self.network._users == 0)

    async def test_bounds_waiting_connections(self) -> None:
        for _ in range(MAX_WAITING):
            self.assertTrue(self.network.has_space)
            await self.gateway()
        self.assertFalse(self.network.has_space)

    async def test_closing_ends_every_connection_and_removes_what_user_code_sees(self) -> None:
        joined, idle = await self.gateway(), await self.gateway()
        user = await self.connect(f"{self.folder}/proxy")
        user[1].write(b"x")
        await joined[0].readexactly(len(HEAD) + 1)
        self.network.close()
        for reader, _ in (joined, idle, user):
            with self.assertRaises((ConnectionError, AssertionError)):
                self.assertNotEqual(await reader.read(-1), b"")
        self.assertEqual(sorted(os.listdir(self.folder)), ["control"])
        self.assertFalse(self.network.is_open)
        await self.network.open("another")
        self.assertTrue(self.network.is_open)

    async def test_user_code_reads_the_certificate_and_may_connect(self) -> None:
        self.assertEqual(await self.network.open("newer"), f"{self.folder}/ca.pem")
        with open(f"{self.folder}/ca.pem", encoding="ascii") as file:
            self.assertEqual(file.read(), "newer")
        self.assertEqual(stat.S_IMODE(os.stat(f"{self.folder}/ca.pem").st_mode), 0o644)
        self.assertEqual(stat.S_IMODE(os.stat(f"{self.folder}/proxy").st_mode), 0o666)


if __name__ == "__main__":
    unittest.main()
