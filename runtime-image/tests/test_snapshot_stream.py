"""Which pieces of a snapshot are sent together, and how large they are."""

import asyncio
import os
import socket
import types
import unittest

from cellblock_supervisor import packets
from cellblock_supervisor.cgroup import Cgroup
from cellblock_supervisor.config import Limits
from cellblock_supervisor.execution.kernel_host import Listener
from cellblock_supervisor.execution.kernel_link import KernelLink
from cellblock_supervisor.execution.namespace import Budget, Namespace
from cellblock_supervisor.execution.worker_messages import parse_reply
from cellblock_supervisor.worker.channel.channel import Channel


class _Kernel:
    lost_while_idle = False

    def __init__(self) -> None:
        self.continues = asyncio.Event()

    async def request(self, _fields: dict[str, object], listener: Listener) -> object:
        listener.on_bulk(b"1")
        listener.on_bulk(b"2")
        await self.continues.wait()
        listener.on_bulk(b"3")
        return parse_reply({"status": "ok", "lost": []})


class Snapshot(unittest.IsolatedAsyncioTestCase):
    async def test_pauses_only_where_no_piece_is_there(self) -> None:
        kernel = _Kernel()
        executions = types.SimpleNamespace(namespace_busy=True)
        namespace = Namespace(kernel, executions, Cgroup(), Limits())  # type: ignore[arg-type]
        pieces = []
        async for piece in namespace.snapshot(Budget(), {}, lambda: None):
            pieces.append((piece, namespace.may_pause()))
            if piece == b"2":
                kernel.continues.set()
        self.assertEqual(pieces[:2], [(b"1", False), (b"2", True)])
        self.assertEqual([piece for piece, _ in pieces], [b"1", b"2", b"3"])


class _Sizes(Listener):
    def __init__(self) -> None:
        self.sizes: list[int] = []

    def on_bulk(self, data: bytes) -> None:
        self.sizes.append(len(data))

    def on_closed(self) -> None: ...


class _Pausing(_Sizes):
    link: KernelLink

    def on_bulk(self, data: bytes) -> None:
        super().on_bulk(data)
        self.link.pause()


class Pauses(unittest.IsolatedAsyncioTestCase):
    async def test_read_nothing_more_in_the_same_turn(self) -> None:
        received = _Pausing()
        link = received.link = KernelLink(received)  # type: ignore[arg-type]
        self.addCleanup(link.close)
        self.addCleanup(link.release_worker_fds)
        end = socket.socket(fileno=os.dup(link.worker_fds[0]))
        self.addCleanup(end.close)
        # Both wait in the socket before the link reads.
        Channel(end).send_bulk(b"1")
        Channel(end).send_bulk(b"22")
        while not received.sizes:
            await asyncio.sleep(0)
        self.assertEqual(received.sizes, [1])
        link.resume()
        while len(received.sizes) < 2:
            await asyncio.sleep(0)
        self.assertEqual(received.sizes, [1, 2])


class Pieces(unittest.IsolatedAsyncioTestCase):
    async def test_cross_whole_each_way(self) -> None:
        received = _Sizes()
        link = KernelLink(received)  # type: ignore[arg-type]
        self.addCleanup(link.close)
        self.addCleanup(link.release_worker_fds)
        end = socket.socket(fileno=os.dup(link.worker_fds[0]))
        self.addCleanup(end.close)
        channel = Channel(end)
        body = b"x" * (packets.BULK_BYTES - 1)
        await asyncio.to_thread(channel.send_bulk, body + b"y")
        while len(received.sizes) < 2:
            await asyncio.sleep(0)
        self.assertEqual(received.sizes, [len(body), 1])
        await link.send_bulk(body)
        target = memoryview(bytearray(3))
        count, rest = channel.receive_bulk(target) or (0, memoryview(b""))
        self.assertEqual([count, len(rest)], [3, len(body) - 3])
