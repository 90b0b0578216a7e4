"""All jobs of one kind by id. Starting one twice runs it once."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from dataclasses import dataclass

from .event_log import EventLog, RetainedBytes
from .job import Job


class Busy(Exception):
    """No other job can run now."""


class Expired(Exception):
    """The job ran long ago and its events are gone."""


@dataclass(frozen=True)
class FinishedJob:
    """The events that stay of a job. Stopping it again changes nothing."""

    log: EventLog
    done: bool = True

    def stop(self, reason: str, kill_after_ms: int) -> None: ...


class JobRegistry[J: Job, R]:
    """Keeps the last event of `max_kept` finished jobs. Older jobs keep only their id, so that they never run again.

    `max_kept_bytes` bounds the events of all finished jobs: past it the oldest without a reader keep their last event only.
    """

    def __init__(self, make: Callable[[R, RetainedBytes], J], max_kept: int, max_kept_bytes: int) -> None:
        self._make = make
        self._max_kept = max_kept
        self._max_kept_bytes = max_kept_bytes
        self._running: dict[str, J] = {}
        self._finished: OrderedDict[str, FinishedJob] = OrderedDict()
        self._expired: set[str] = set()
        self._retained = RetainedBytes()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def has_run(self) -> bool:
        """Whether any job was ever started here."""
        return bool(self._running or self._finished or self._expired)

    def find(self, job_id: str) -> J | FinishedJob | None:
        return self._running.get(job_id) or self._finished.get(job_id)

    def running(self, job_id: str) -> J | None:
        return self._running.get(job_id)

    def start(self, job_id: str, request: R) -> J:
        """Raises Busy, and Expired for an id of long ago. The caller has checked that the id is not known."""
        if job_id in self._expired:
            raise Expired
        self._check_capacity()
        self._free_old_events()
        job = self._make(request, self._retained)
        self._running[job_id] = job
        # A client that disconnects does not end it.
        self.run_in_background(self._run(job_id, job))
        return job

    def run_in_background(self, work: Coroutine[object, object, None]) -> None:
        """Runs work that no client waits for. It begins at once, so that a kernel has the code before the response head is made."""
        task = asyncio.Task(work, loop=asyncio.get_running_loop(), eager_start=True)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _check_capacity(self) -> None:
        """Raises Busy."""
        raise NotImplementedError

    async def _run(self, job_id: str, job: J) -> None:
        try:
            await job.run()
        finally:
            del self._running[job_id]
            self._finished[job_id] = FinishedJob(job.log)

    def _free_old_events(self) -> None:
        while len(self._finished) >= self._max_kept:
            job_id, oldest = self._finished.popitem(last=False)
            self._expired.add(job_id)
            oldest.log.release()
        for finished in self._finished.values():
            if self._retained.bytes <= self._max_kept_bytes:
                return
            if finished.log.readers == 0:
                finished.log.keep_last()
