"""Output of child processes on the kernel's descriptors: every byte is counted and the end is kept, at any speed."""

import asyncio
import fcntl
import os
import socket
import unittest
from collections.abc import Callable

from cellblock_supervisor import packets
from cellblock_supervisor.execution.head_tail_stream import HeadTailStream
from cellblock_supervisor.execution.kernel_host import Listener
from cellblock_supervisor.execution.kernel_link import KernelLink

HEAD, TAIL = 1000, 64 * 1024
DEFAULT_PIPE_BYTES = 64 * 1024


class StreamListener(Listener):
    def __init__(self) -> None:
        self.texts: list[str] = []
        self.keeper = HeadTailStream(HEAD, TAIL, self.texts.append)
        self.read_bytes = 0
        self.on_read: Callable[[], object] = lambda: None

    def on_text(self, _name: str, data: memoryview) -> None:
        self.read_bytes += len(data)
        self.keeper.add(data)
        self.on_read()

    def tail_limit(self, _name: str) -> int | None:
        return None if self.keeper.head_left > 0 else TAIL

    def on_skipped(self, _name: str, size: int) -> None:
        self.keeper.skip(size)

    def on_closed(self) -> None: ...


class Floods(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        self.kept = StreamListener()
        self.link = KernelLink(self.kept)  # type: ignore[arg-type]
        self.stdout = self.link.worker_fds[1]

    async def asyncTearDown(self) -> None:
        self.link.close()
        self.link.release_worker_fds()

    async def write(self, pieces: list[bytes]) -> None:
        """Writes as a child process does: concurrently, and blocked while the pipe is full."""

        def all_of_it() -> None:
            for piece in pieces:
                view = memoryview(piece)
                while view:
                    view = view[os.write(self.stdout, view) :]

        os.set_blocking(self.stdout, True)
        await asyncio.to_thread(all_of_it)
        self.link.drain()
        self.kept.keeper.finish()

    async def test_counts_every_byte_of_a_flood_without_reading_all(self) -> None:
        pieces = [b"%015d\n" % number * 4096 for number in range(1024)]
        await self.write(pieces)
        whole = b"".join(pieces)
        self.assertEqual(self.kept.keeper.total_bytes, len(whole))
        self.assertEqual("".join(self.kept.texts), (whole[:HEAD] + whole[-TAIL:]).decode())
        self.assertLess(self.kept.read_bytes, len(whole))

    async def test_reads_a_bounded_rest_from_a_process_that_sends_on(self) -> None:
        channel = socket.socket(fileno=os.dup(self.link.worker_fds[0]))
        self.addCleanup(channel.close)
        packet = bytes((packets.STDOUT,)) + b"x" * (packets.PACKET_BYTES - 1)
        # There is always one more.
        self.kept.on_read = lambda: channel.send(packet)
        channel.send(packet)
        self.link.drain_all()
        self.assertLess(self.kept.keeper.total_bytes, 16 * 1024 * 1024)

    async def test_enlarges_only_the_flooded_pipe(self) -> None:
        self.assertEqual(fcntl.fcntl(self.stdout, fcntl.F_GETPIPE_SZ), DEFAULT_PIPE_BYTES)
        await self.write([b"x" * HEAD])
        self.assertEqual(fcntl.fcntl(self.stdout, fcntl.F_GETPIPE_SZ), DEFAULT_PIPE_BYTES)
        await self.write([b"x" * 100_000] * 100)
        self.assertGreater(fcntl.fcntl(self.stdout, fcntl.F_GETPIPE_SZ), DEFAULT_PIPE_BYTES)

    async def test_keeps_every_small_write(self) -> None:
        pieces = [b"%d\n" % number for number in range(50_000)]
        await self.write(pieces)
        whole = b"".join(pieces)
        self.assertEqual(self.kept.keeper.total_bytes, len(whole))
        self.assertTrue("".join(self.kept.texts).endswith(whole[-TAIL:].decode()))


if __name__ == "__main__":
    unittest.main()
