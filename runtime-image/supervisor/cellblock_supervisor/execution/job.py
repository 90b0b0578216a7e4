"""What executions and commands have in common: limits, the first reason to stop, usage, and exactly one `done` event, whatever dies."""

import asyncio
import time
from dataclasses import dataclass

from ..cgroup import Cgroup
from ..config import Limits
from ..files.tracker import Changes, FileTracker
from .cpu_limit import watch_cpu
from .event_log import EventLog, RetainedBytes
from .kernel_host import KernelHost
from .outputs import Outputs

# Between the polite end at a limit and the kill. The overshoot stays below a second, unless the host gives the sandbox hardly any processor time.
LIMIT_GRACE_MS = 500


@dataclass(frozen=True)
class JobLimits:
    timeout_ms: int
    # Bytes of each stream that are kept.
    head_bytes: int
    tail_bytes: int
    # Processor time of the whole sandbox, and all output; None for unlimited.
    cpu_ms: int | None = None
    max_total_bytes: int | None = None
    # The trace id of the client's request, for its logs; returned in the envelope.
    trace_id: str | None = None


@dataclass(frozen=True)
class JobContext:
    """The parts of the sandbox that every job uses."""

    kernel: KernelHost
    files: FileTracker
    cgroup: Cgroup
    limits: Limits


class Job:
    def __init__(self, context: JobContext, limits: JobLimits, retained: RetainedBytes, max_displays: int = 0) -> None:
        self.log = EventLog(retained)
        self._kernel = context.kernel
        self._files = context.files
        self._cgroup = context.cgroup
        self._limits = limits
        totals = [limit for limit in (context.limits.max_output_bytes, limits.max_total_bytes) if limit is not None]
        self._outputs = Outputs(self.log, limits.head_bytes, limits.tail_bytes, max_displays, min(totals, default=None))
        # Why it was stopped: timed_out, cancelled, output_limit, cpu_limit, oom. The first reason stays.
        self._stop_reason: str | None = None
        # A stop has no effect any more: it would hit what runs next.
        self._has_ended = False
        self._started_at = time.monotonic()
        self._started_cpu_ms: float | None = None
        self._deadline: asyncio.TimerHandle | None = None
        # Clocks include the time in a checkpoint.
        self._paused_at: float | None = None
        self._clock: asyncio.Task[None] | None = None

    @property
    def done(self) -> bool:
        return self.log.closed

    def stop(self, reason: str, kill_after_ms: int) -> None:
        """Ends the job politely and kills it after a grace period. Does nothing after a first stop and after the end."""
        if self._has_ended or self._stop_reason is not None:
            return
        self._stop_reason = reason
        self._on_stop(kill_after_ms)

    async def run(self) -> None:
        """Returns after the `done` event."""
        self._started_at = time.monotonic()
        self._limit_time(self._limits.timeout_ms / 1000)
        try:
            await self._work()
        finally:
            self._end_limits()
            self._release()
            self._outputs.finish()
            run_ms = (time.monotonic() - self._started_at) * 1000
            changes = await self._changed_files()
            self.log.append("done", self._envelope(changes, run_ms), last=True)

    def pause(self) -> None:
        """The time until `resume` does not count."""
        self._paused_at = time.monotonic()
        if self._deadline is not None:
            self._deadline.cancel()

    def resume(self) -> None:
        if self._paused_at is None or self._has_ended:
            return
        self._started_at += time.monotonic() - self._paused_at
        self._paused_at = None
        self._limit_time(self._limits.timeout_ms / 1000 - (time.monotonic() - self._started_at))

    def _limit_time(self, seconds: float) -> None:
        self._deadline = asyncio.get_running_loop().call_later(max(0, seconds), self.stop, "timed_out", LIMIT_GRACE_MS)

    def _measure(self) -> None:
        """Usage counts from here on, and the limit of processor time applies."""
        self._cgroup.start_cpu_report()
        self._started_at, self._started_cpu_ms = time.monotonic(), self._cgroup.cpu_ms()
        self._clock = watch_cpu(self._cgroup, self._started_cpu_ms, self._limits.cpu_ms, lambda: self.stop("cpu_limit", LIMIT_GRACE_MS))

    def _end_limits(self) -> None:
        """Nothing stops the job from here on. Idempotent."""
        self._has_ended = True
        for timer in (self._deadline, self._clock):
            if timer is not None:
                timer.cancel()

    def _check_size(self) -> None:
        if self._outputs.is_over_total:
            self.stop("output_limit", LIMIT_GRACE_MS)

    async def _changed_files(self) -> Changes:
        """Never raises: when the folder cannot be compared, the result says so, and the next one reports the changes."""
        try:
            return await self._files.changes()
        except Exception:
            return Changes(skipped=[{"path": ".", "reason": "unreadable"}])

    def _envelope(self, changes: Changes, run_ms: float) -> dict[str, object]:
        outcome = self._outcome()
        # With the processor time of the hashes of the files that the code wrote.
        now = self._cgroup.cpu_ms()
        used = 0.0 if now is None or self._started_cpu_ms is None else now - self._started_cpu_ms
        # Files beyond the bounds of the listing are a truncation too. Their sizes are unknown.
        unlisted = [{"what": "files", "total_bytes": 0, "kept_bytes": 0, "reason": reason} for reason in changes.bounds]
        return {
            "outcome": outcome,
            "run_ms": round(run_ms, 3),
            "cpu_ms": round(used, 3),
            "sandbox_cpu_ms": round(self._cgroup.take_cpu_report(), 3),
            "peak_memory_bytes": self._peak_memory_bytes(),
            "output_bytes": self._outputs.output_bytes,
            "truncated": [*self._outputs.truncated(), *unlisted],
            "files": changes.files,
            "deleted": changes.deleted,
            "skipped": changes.skipped,
            **self._end_fields(outcome),
            "kernel_generation": self._kernel.generation,
            "trace_id": self._limits.trace_id,
        }

    async def _work(self) -> None:
        """Runs the code to its end."""
        raise NotImplementedError

    def _on_stop(self, kill_after_ms: int) -> None:
        raise NotImplementedError

    def _release(self) -> None:
        """Frees what the work held, however it ended."""
        raise NotImplementedError

    def _outcome(self) -> str:
        raise NotImplementedError

    def _peak_memory_bytes(self) -> int:
        raise NotImplementedError

    def _end_fields(self, outcome: str) -> dict[str, object]:
        """`ended_processes`, `state_lost` and `exit` of the envelope."""
        raise NotImplementedError
