"""The time between an interrupt and a kill, on a host that gives the sandbox much or little processor time."""

import asyncio
import subprocess
import sys
import unittest
from collections.abc import Callable

from cellblock_supervisor.execution import grace_period
from cellblock_supervisor.execution.grace_period import GracePeriod

GRACE_MS = 300


class Grace(unittest.IsolatedAsyncioTestCase):
    def _child(self, code: str) -> int:
        child = subprocess.Popen([sys.executable, "-c", f"print(flush=True)\n{code}"], stdout=subprocess.PIPE)
        self.addCleanup(child.communicate)
        self.addCleanup(child.kill)
        child.stdout.readline()  # type: ignore[union-attr]
        return child.pid

    def setUp(self) -> None:
        self.busy = self._child("while True: pass")
        self.waiting = self._child("import time; time.sleep(600)")
        self._allow_extra_seconds(600)

    async def asyncSetUp(self) -> None:
        self.loop = asyncio.get_running_loop()

    def _allow_extra_seconds(self, seconds: float) -> None:
        self.addCleanup(setattr, grace_period, "MAX_EXTRA_SECONDS", grace_period.MAX_EXTRA_SECONDS)
        grace_period.MAX_EXTRA_SECONDS = seconds

    def _share_of_a_processor(self, share: float) -> Callable[[], float]:
        """The processor time of a sandbox that gets this share of one processor."""
        start = self.loop.time()
        return lambda: (self.loop.time() - start) * 1000 * share

    def _start(self, pid: int, cpu_ms: Callable[[], float | None]) -> asyncio.Future[float]:
        over: asyncio.Future[float] = self.loop.create_future()
        started = self.loop.time()
        GracePeriod(pid, GRACE_MS, cpu_ms, lambda: over.set_result(self.loop.time() - started))
        return over

    async def test_ends_in_time_for_a_kernel_that_runs_or_sleeps_or_shows_no_figures(self) -> None:
        kernels = ((self.busy, self._share_of_a_processor(0.5)), (self.waiting, self._share_of_a_processor(0)), (self.busy, lambda: None), (0, lambda: 0.0))
        starved = self._start(self.busy, self._share_of_a_processor(0))
        ends = await asyncio.gather(*(self._start(pid, cpu_ms) for pid, cpu_ms in kernels))
        for end in ends:
            self.assertGreaterEqual(end, GRACE_MS / 1000 - 0.01)
        self.assertFalse(starved.done())

    async def test_is_longer_in_proportion_for_a_kernel_that_hardly_gets_a_processor(self) -> None:
        self.assertGreaterEqual(await self._start(self.busy, self._share_of_a_processor(1 / 16)), 4 * GRACE_MS / 1000 - 0.01)

    async def test_is_bounded_for_a_kernel_that_gets_no_processor_at_all(self) -> None:
        self._allow_extra_seconds(0.5)
        self.assertGreaterEqual(await asyncio.wait_for(self._start(self.busy, self._share_of_a_processor(0)), 60), 0.8)

    async def test_calls_nothing_after_it_was_cancelled(self) -> None:
        grace = GracePeriod(self.waiting, GRACE_MS, lambda: None, lambda: self.fail("it was cancelled"))
        grace.cancel()
        await self._start(self.waiting, lambda: None)


if __name__ == "__main__":
    unittest.main()
