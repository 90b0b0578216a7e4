"""Connections from outside to programs that listen by the loopback layer: bounded, joined, and to sockets of user code only."""

import asyncio
import os
import socket
import tempfile
import unittest

from cellblock_supervisor.files.client import FileError
from cellblock_supervisor.network.ports import MAX_CONNECTIONS, Ports
from cellblock_supervisor.socket_stream import SocketStream
from cellblock_supervisor.worker.isolation import loopback

Pair = tuple[asyncio.StreamReader, asyncio.StreamWriter]
HEAD = b"HTTP/1.1 101 \r\n\r\n"
PORT = 8501


class PortConnections(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = f"{folder.name}/sockets"
        os.mkdir(self.folder)
        self.ports = Ports(self.helper, self.folder)
        self.control = f"{folder.name}/control"
        loop = asyncio.get_running_loop()

        async def serve(stream: SocketStream) -> None:
            await self.ports.serve(stream, HEAD, PORT)
            stream.close()

        server = await loop.create_unix_server(lambda: SocketStream(serve), self.control)
        self.addCleanup(server.close)
        self.served: list[Pair] = []

    async def helper(self, port: int) -> socket.socket:
        """As the files helper answers."""
        try:
            return socket.socket(fileno=loopback.connect(port, self.folder))
        except OSError as error:
            raise FileError("ECONNREFUSED", str(error)) from None

    async def listen(self, name: str = f"T01{PORT:04X}") -> asyncio.Server:
        server = await asyncio.start_unix_server(lambda *pair: self.served.append(pair), f"{self.folder}/{name}")
        self.addCleanup(server.close)
        return server

    async def visit(self) -> Pair:
        reader, writer = await asyncio.open_unix_connection(self.control)
        self.addCleanup(writer.close)
        return reader, writer

    async def joined(self) -> tuple[Pair, Pair]:
        """A visitor that has the head, and its program."""
        visitor = await self.visit()
        self.assertEqual(await visitor[0].readexactly(len(HEAD)), HEAD)
        async with asyncio.timeout(30):
            while not self.served:
                await asyncio.sleep(0)
        return visitor, self.served.pop()

    async def ended(self, reader: asyncio.StreamReader) -> None:
        """Fails, instead of waiting, if the connection stays open."""
        async with asyncio.timeout(30):
            self.assertEqual(await reader.read(-1), b"")

    async def test_copies_both_ways(self) -> None:
        await self.listen()
        visitor, program = await self.joined()
        body = os.urandom(3_000_000)
        visitor[1].write(b"request")
        self.assertEqual(await program[0].readexactly(7), b"request")
        program[1].write(body)
        program[1].close()
        self.assertEqual(await visitor[0].read(-1), body)

    async def test_finds_a_program_on_the_other_family(self) -> None:
        await self.listen(f"X01{PORT:04X}")
        await self.joined()

    async def test_the_program_sees_a_client_of_the_layer_and_no_name_remains(self) -> None:
        await self.listen()
        _, program = await self.joined()
        self.assertRegex(program[1].get_extra_info("peername"), rf"^{self.folder}/T01[89A-F][0-9A-F]{{3}}$")
        self.assertEqual(os.listdir(self.folder), [f"T01{PORT:04X}"])

    async def test_the_end_of_the_visitor_ends_a_program_that_waits(self) -> None:
        await self.listen()
        visitor, program = await self.joined()
        visitor[1].close()
        await self.ended(program[0])
        async with asyncio.timeout(30):
            while self.ports._open > 0:
                await asyncio.sleep(0)

    async def test_ends_a_connection_without_a_program(self) -> None:
        reader, _ = await self.visit()
        await self.ended(reader)
        self.assertEqual(self.ports._open, 0)

    async def test_a_socket_whose_program_has_ended_is_none(self) -> None:
        with socket.socket(socket.AF_UNIX) as left:
            left.bind(f"{self.folder}/T01{PORT:04X}")
            left.listen()
        reader, _ = await self.visit()
        await self.ended(reader)

    async def test_refuses_a_link_to_another_socket(self) -> None:
        other = f"{self.folder}/other"
        await self.listen("other")
        os.symlink(other, f"{self.folder}/T01{PORT:04X}")
        reader, _ = await self.visit()
        await self.ended(reader)

    async def test_bounds_connections(self) -> None:
        await self.listen()
        visitors = [await self.joined() for _ in range(MAX_CONNECTIONS)]
        reader, _ = await self.visit()
        await self.ended(reader)
        visitors[0][0][1].close()
        async with asyncio.timeout(30):
            while self.ports._open == MAX_CONNECTIONS:
                await asyncio.sleep(0)
        await self.joined()

    async def test_lists_the_ports_on_which_programs_listen(self) -> None:
        await self.listen()
        await self.listen("X011F40")
        await self.listen("other")
        # Bound, but not listening.
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(f"{self.folder}/T012000")
            self.assertEqual(self.ports.listening(), [8000, PORT])

    async def test_a_program_that_accepts_nothing_more_is_refused_without_a_wait(self) -> None:
        with socket.socket(socket.AF_UNIX) as full:
            full.bind(f"{self.folder}/T01{PORT:04X}")
            full.listen(0)
            first = loopback.connect(PORT, self.folder)
            with self.assertRaises(BlockingIOError):
                loopback.connect(PORT, self.folder)
            os.close(first)


if __name__ == "__main__":
    unittest.main()
