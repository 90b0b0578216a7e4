"""All commands of this sandbox by id. Starting one twice runs it once."""

import asyncio
from collections import OrderedDict

from ..cgroup import Cgroup
from ..config import Limits
from ..files.tracker import FileTracker
from .command import Command, CommandRequest
from .event_log import RetainedBytes
from .fork_bomb_monitor import ForkBombMonitor
from .kernel_host import KernelHost
from .memory_monitor import MemoryMonitor
from .periodic_monitor import PeriodicMonitor
from .registry import Busy, Expired, FinishedExecution

MAX_RUNNING = 64
# Finished commands whose last event is kept. Of older ones only the id stays, so that they never run again.
MAX_KEPT = 200
MAX_KEPT_BYTES = 8 * 1024 * 1024
_CHECK_SECONDS = 0.2


class Commands:
    def __init__(self, kernel: KernelHost, files: FileTracker, cgroup: Cgroup, limits: Limits) -> None:
        self._kernel = kernel
        self._files = files
        self._cgroup = cgroup
        self._limits = limits
        self._running: dict[str, Command] = {}
        self._finished: OrderedDict[str, FinishedExecution] = OrderedDict()
        self._expired: set[str] = set()
        self._retained = RetainedBytes()
        self._tasks: set[asyncio.Task[None]] = set()
        self._monitor: PeriodicMonitor | None = None
        self._memory: MemoryMonitor | None = None

    def sessions(self) -> frozenset[int]:
        """Sessions of running commands. A process can leave its session and cannot join another one."""
        return frozenset(command.pid for command in self._running.values() if command.pid > 0)

    def find(self, command_id: str) -> Command | FinishedExecution | None:
        return self._running.get(command_id) or self._finished.get(command_id)

    def running(self, command_id: str) -> Command | None:
        return self._running.get(command_id)

    def start(self, command_id: str, request: CommandRequest) -> Command:
        """Raises Busy when the maximum runs, and Expired for an id of long ago. The caller has checked that the id is not known."""
        if command_id in self._expired:
            raise Expired
        if len(self._running) >= MAX_RUNNING:
            raise Busy
        self._free_old_events()
        command = Command(request, self._kernel, self._files, self._cgroup, self._retained)
        self._running[command_id] = command
        self._watch()
        task = asyncio.get_running_loop().create_task(self._run(command_id, command))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return command

    async def _run(self, command_id: str, command: Command) -> None:
        try:
            await command.run()
        finally:
            del self._running[command_id]
            self._finished[command_id] = FinishedExecution(command.log)
            if not self._running and self._monitor is not None:
                self._monitor.stop()
                self._monitor = self._memory = None

    def _watch(self) -> None:
        if self._monitor is None:
            self._memory = MemoryMonitor(self._cgroup, self._limits.memory_bytes, self._on_full)
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

    def _free_old_events(self) -> None:
        while len(self._finished) >= MAX_KEPT:
            command_id, oldest = self._finished.popitem(last=False)
            self._expired.add(command_id)
            oldest.log.release()
        for finished in self._finished.values():
            if self._retained.bytes <= MAX_KEPT_BYTES:
                return
            finished.log.keep_last()
