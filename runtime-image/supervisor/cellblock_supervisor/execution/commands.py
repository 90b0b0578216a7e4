"""The commands of this sandbox: many at a time, which end before the kernel when memory is short."""

from .command import Command, CommandRequest
from .fork_bomb_monitor import ForkBombMonitor
from .job import JobContext
from .job_registry import Busy, JobRegistry
from .memory_monitor import MemoryMonitor
from .periodic_monitor import PeriodicMonitor

MAX_RUNNING = 64
MAX_KEPT = 200
# One command that was asked to keep much, and some others.
MAX_KEPT_BYTES = 32 * 1024 * 1024
_CHECK_SECONDS = 0.2


class Commands(JobRegistry[Command, CommandRequest]):
    def __init__(self, context: JobContext) -> None:
        super().__init__(lambda request, retained: Command(request, context, retained), MAX_KEPT, MAX_KEPT_BYTES)
        self._cgroup = context.cgroup
        self._memory_bytes = context.limits.memory_bytes
        self._monitor: PeriodicMonitor | None = None
        self._memory: MemoryMonitor | None = None

    @property
    def busy(self) -> bool:
        return bool(self._running)

    def pause(self) -> None:
        """No time counts against their limits until `resume`."""
        for command in self._running.values():
            command.pause()

    def resume(self) -> None:
        for command in self._running.values():
            command.resume()

    def sessions(self) -> frozenset[int]:
        """Sessions of running commands. A process can leave its session and cannot join another one."""
        return frozenset(command.pid for command in self._running.values() if command.pid > 0)

    def _check_capacity(self) -> None:
        if len(self._running) >= MAX_RUNNING:
            raise Busy

    async def _run(self, job_id: str, job: Command) -> None:
        self._watch()
        try:
            await super()._run(job_id, job)
        finally:
            if not self._running and self._monitor is not None:
                self._monitor.stop()
                self._monitor = self._memory = None

    def _watch(self) -> None:
        if self._monitor is None:
            self._memory = MemoryMonitor(self._cgroup, self._memory_bytes, self._on_full)
            self._monitor = PeriodicMonitor(self._check_memory, ForkBombMonitor(self._cgroup).check, interval_seconds=_CHECK_SECONDS)

    def _check_memory(self) -> None:
        if self._memory is not None:
            self._memory.check()
            for command in self._running.values():
                command.peak = max(command.peak, self._memory.peak)

    def _on_full(self) -> None:
        """Commands end before the kernel: its variables are worth more."""
        for command in list(self._running.values()):
            command.stop("oom", 0)
