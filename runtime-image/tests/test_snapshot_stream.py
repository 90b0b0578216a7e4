"""Which pieces of a snapshot are sent together."""

import asyncio
import types
import unittest

from cellblock_supervisor.cgroup import Cgroup
from cellblock_supervisor.config import Limits
from cellblock_supervisor.execution.kernel_host import Listener
from cellblock_supervisor.execution.namespace import Budget, Namespace
from cellblock_supervisor.execution.worker_messages import parse_reply


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
