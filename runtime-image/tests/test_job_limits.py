"""The time limit of a job in a sandbox that is suspended."""

import asyncio
import json
import time
import unittest
from types import SimpleNamespace

from cellblock_supervisor.execution.event_log import RetainedBytes
from cellblock_supervisor.execution.job import Job, JobContext, JobLimits
from cellblock_supervisor.files.tracker import Changes

_LIMIT_SECONDS = 0.3


class Waiting(Job):
    """Runs until it is stopped."""

    async def _work(self) -> None:
        self._end = asyncio.get_running_loop().create_future()
        await self._end

    def _on_stop(self, kill_after_ms: int) -> None:
        self._end.set_result(None)

    def _release(self) -> None: ...

    def _outcome(self) -> str:
        return self._stop_reason or "ok"

    def _peak_memory_bytes(self) -> int:
        return 0

    def _end_fields(self, outcome: str) -> dict[str, object]:
        return {}


async def _no_changes() -> Changes:
    return Changes()


def _waiting() -> Waiting:
    cgroup = SimpleNamespace(cpu_ms=lambda: 0.0, take_cpu_report=lambda: 0.0)
    context = JobContext(
        kernel=SimpleNamespace(generation=1),  # type: ignore[arg-type]
        files=SimpleNamespace(changes=_no_changes),  # type: ignore[arg-type]
        cgroup=cgroup,  # type: ignore[arg-type]
        limits=SimpleNamespace(max_output_bytes=None),  # type: ignore[arg-type]
    )
    limits = JobLimits(timeout_ms=int(_LIMIT_SECONDS * 1000), head_bytes=100, tail_bytes=100)
    return Waiting(context, limits, RetainedBytes())


class PausedJobs(unittest.IsolatedAsyncioTestCase):
    async def test_the_limit_does_not_count_the_time_of_a_pause(self) -> None:
        job = _waiting()
        began = time.monotonic()
        running = asyncio.ensure_future(job.run())
        await asyncio.sleep(0)
        job.pause()
        await asyncio.sleep(2 * _LIMIT_SECONDS)
        self.assertFalse(running.done())
        job.resume()
        await asyncio.wait_for(running, 10)
        done = json.loads(job.log.after(-1)[0].splitlines()[-1])
        self.assertEqual(done["outcome"], "timed_out")
        self.assertGreater(time.monotonic() - began, 3 * _LIMIT_SECONDS - 0.05)
        # The pause is no running time either.
        self.assertLess(done["run_ms"], 2 * _LIMIT_SECONDS * 1000)

    async def test_a_job_that_was_not_paused_ends_at_its_limit(self) -> None:
        job = _waiting()
        await asyncio.wait_for(job.run(), 10)
        job.resume()
        self.assertEqual(json.loads(job.log.after(-1)[0].splitlines()[-1])["outcome"], "timed_out")


if __name__ == "__main__":
    unittest.main()
