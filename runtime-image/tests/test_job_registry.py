"""The events of finished jobs: how much of them stays, and for whom."""

import asyncio
import json
import unittest

from cellblock_supervisor.execution.event_log import EventLog, RetainedBytes
from cellblock_supervisor.execution.job_registry import JobRegistry
from cellblock_supervisor.http.job_routes import _LogReader


class Job:
    """Prints and ends."""

    def __init__(self, size: int, retained: RetainedBytes) -> None:
        self.log = EventLog(retained)
        self._size = size

    async def run(self) -> None:
        # As a real one, which waits for its kernel or its process.
        await asyncio.sleep(0)
        self.log.append("stream", {"text": "x" * self._size})
        self.log.append("done", {}, last=True)


class Registry(JobRegistry[Job, int]):  # type: ignore[type-var]
    def _check_capacity(self) -> None: ...


class FinishedJobs(unittest.IsolatedAsyncioTestCase):
    async def test_a_large_log_stays_while_it_is_read(self) -> None:
        jobs = Registry(Job, max_kept=10, max_kept_bytes=100)  # type: ignore[type-var]
        jobs.start("first", 2_000)
        jobs.start("second", 2_000)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        read = _LogReader(jobs.find("first").log, -1).pieces()  # type: ignore[union-attr]
        first_piece = await anext(read)
        jobs.start("third", 1)
        self.assertEqual([json.loads(line)["seq"] for line in first_piece.splitlines()], [0, 1])
        self.assertEqual([len(jobs.find(name).log.after(-1)[0].splitlines()) for name in ("first", "second")], [2, 1])  # type: ignore[union-attr]
        await read.aclose()  # type: ignore[attr-defined]
        jobs.start("fourth", 1)
        self.assertEqual(len(jobs.find("first").log.after(-1)[0].splitlines()), 1)  # type: ignore[union-attr]
