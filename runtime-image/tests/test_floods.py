"""What children write to the kernel's descriptors: counted to the last byte, its end kept, whoever is faster."""

import asyncio
import fcntl
import os
import unittest

from cellblock_supervisor.execution.kernel_host import Listener
from cellblock_supervisor.execution.kernel_link import KernelLink
from cellblock_supervisor.execution.head_tail_stream import HeadTailStream

HEAD, TAIL = 1000, 64 * 1024
USUAL_PIPE_BYTES = 64 * 1024


class StreamListener(Listener):
    def __init__(self) -> None:
        self.texts: list[str] = []
        self.keeper = HeadTailStream(HEAD, TAIL, self.texts.append)
        self.read_bytes = 0

    def on_text(self, _name: str, data: memoryview) -> None:
        self.read_bytes += len(data)
        self.keeper.add(data)

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
        """As a child does: from beside the supervisor, blocked while the pipe is full."""

        def all_of_it() -> None:
            for piece in pieces:
                view = memoryview(piece)
                while view:
                    view = view[os.write(self.stdout, view) :]

        os.set_blocking(self.stdout, True)
        await asyncio.to_thread(all_of_it)
        self.link.drain()
        self.kept.keeper.finish()

    async def test_a_flood_is_counted_whole_and_not_read_whole(self) -> None:
        pieces = [b"%015d\n" % number * 4096 for number in range(1024)]
        await self.write(pieces)
        whole = b"".join(pieces)
        self.assertEqual(self.kept.keeper.total_bytes, len(whole))
        self.assertEqual("".join(self.kept.texts), (whole[:HEAD] + whole[-TAIL:]).decode())
        self.assertLess(self.kept.read_bytes, len(whole))

    async def test_only_what_is_flooded_takes_room(self) -> None:
        self.assertEqual(fcntl.fcntl(self.stdout, fcntl.F_GETPIPE_SZ), USUAL_PIPE_BYTES)
        await self.write([b"x" * HEAD])
        self.assertEqual(fcntl.fcntl(self.stdout, fcntl.F_GETPIPE_SZ), USUAL_PIPE_BYTES)
        await self.write([b"x" * 100_000] * 100)
        self.assertGreater(fcntl.fcntl(self.stdout, fcntl.F_GETPIPE_SZ), USUAL_PIPE_BYTES)

    async def test_small_writes_lose_nothing(self) -> None:
        pieces = [b"%d\n" % number for number in range(50_000)]
        await self.write(pieces)
        whole = b"".join(pieces)
        self.assertEqual(self.kept.keeper.total_bytes, len(whole))
        self.assertTrue("".join(self.kept.texts).endswith(whole[-TAIL:].decode()))


if __name__ == "__main__":
    unittest.main()
