"""The socket of the supervisor before, during and after a suspension."""

import asyncio
import contextlib
import os
import socket
import tempfile
import unittest

from cellblock_supervisor.http import server
from cellblock_supervisor.http.messages import json_reply
from cellblock_supervisor.http.server import ControlPort
from cellblock_supervisor.signing import Verifier


class Suspending(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "s.sock")
        self.mark = os.path.join(folder.name, "resumed")

        async def answer(_request: object) -> object:
            return json_reply({"ok": True})

        self.identities: list[bytes] = []

        async def become_copy(identity: bytes) -> Verifier:
            self.identities.append(identity)
            return Verifier("sbx_copy", bytes(32))

        self.requested = asyncio.Event()
        # Whether the port was open when the sandbox continued.
        self.open_at_resumption: list[bool] = []

        def on_resumed() -> None:
            self.open_at_resumption.append(os.path.exists(self.path))
            self.requested.clear()

        self.port = ControlPort(f"unix:{self.path}", Verifier("sbx_x", bytes(32)), answer, become_copy, on_resumed)
        await self.port.open()
        following = asyncio.get_running_loop().create_task(self.port.follow(self.requested))
        self.addCleanup(following.cancel)
        self.addCleanup(self.port.close)

    async def _ask(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
        return await asyncio.wait_for(reader.readuntil(b"}"), 10)

    async def _until(self, *, is_there: bool) -> None:
        async with asyncio.timeout(10):
            while os.path.exists(self.path) is not is_there:
                await asyncio.sleep(0.005)

    def _make_mark(self, identity: str = "") -> None:
        with open(self.mark, "x") as file:
            file.write(identity)

    async def _until_used(self) -> None:
        async with asyncio.timeout(10):
            while os.path.exists(self.mark):
                await asyncio.sleep(0.005)

    async def test_stays_closed_if_an_earlier_mark_is_left(self) -> None:
        self._make_mark()
        self.requested.set()
        await self._until(is_there=False)
        await self._until_used()
        self.assertFalse(os.path.exists(self.path))
        self._make_mark()
        await self._until(is_there=True)

    async def test_gives_a_copy_its_identity_before_it_listens(self) -> None:
        for identity in ("", '{"sandbox_id":"sbx_copy"}', ""):
            self.requested.set()
            await self._until(is_there=False)
            self._make_mark(identity)
            await self._until(is_there=True)
            await self._until_used()
        self.assertEqual(self.identities, [b'{"sandbox_id":"sbx_copy"}'])

    async def test_closes_every_connection_before_its_name_disappears(self) -> None:
        reader, writer = await asyncio.open_unix_connection(self.path)
        self.assertIn(b"ok", await self._ask(reader, writer))
        self.requested.set()
        await self._until(is_there=False)
        self.assertEqual(await asyncio.wait_for(reader.read(), 10), b"")
        writer.close()

    async def test_closes_a_connection_that_comes_in_the_same_turn(self) -> None:
        for others in range(2):
            kept = [await asyncio.open_unix_connection(self.path) for _ in range(others)]
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as late:
                late.setblocking(False)
                late.connect(self.path)
                self.requested.set()
                await self._until(is_there=False)
                # At once, because the host writes the checkpoint now.
                with contextlib.suppress(ConnectionResetError):
                    self.assertEqual(late.recv(1), b"")
            for _, writer in kept:
                writer.close()
            self._make_mark()
            await self._until(is_there=True)
            await self._until_used()

    async def test_listens_again_after_the_mark_and_can_be_suspended_again(self) -> None:
        for _ in range(2):
            self.requested.set()
            await self._until(is_there=False)
            self._make_mark()
            await self._until(is_there=True)
            await self._until_used()
            reader, writer = await asyncio.open_unix_connection(self.path)
            self.assertIn(b"ok", await self._ask(reader, writer))
            self.assertFalse(self.requested.is_set())
            writer.close()
        self.assertEqual(self.open_at_resumption, [False, False])

    async def test_listens_again_without_a_checkpoint(self) -> None:
        self.addCleanup(setattr, server, "_MAX_POLLS", server._MAX_POLLS)
        server._MAX_POLLS = 20
        self.requested.set()
        await self._until(is_there=False)
        await self._until(is_there=True)


if __name__ == "__main__":
    unittest.main()
