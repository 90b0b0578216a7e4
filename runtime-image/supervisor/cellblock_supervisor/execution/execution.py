"""One execution: cells that the kernel runs, one after the other."""

import asyncio
from dataclasses import dataclass

from . import background_processes, worker_processes
from .event_log import RetainedBytes
from .fork_bomb_monitor import ForkBombMonitor
from .grace_period import GracePeriod
from .job import Job, JobContext, JobLimits
from .kernel_host import KernelDeath, Listener
from .memory_monitor import MemoryMonitor
from .outputs import MAX_DISPLAY_EVENTS
from .periodic_monitor import PeriodicMonitor
from .worker_messages import CellError, CellStarted, Display, Malformed, OmittedDisplays, PlainEvent, Reply, parse_output

# Kernels of one cell that ended before they began it.
_MAX_DYING_KERNELS = 2
# How long killed processes may take to leave the process table, in steps of 10 ms.
_MAX_REAP_STEPS = 50


@dataclass(frozen=True)
class ExecutionRequest:
    """The validated body of `PUT /executions/{id}`."""

    cells: tuple[str, ...]
    limits: JobLimits
    on_error: str
    store_history: bool
    max_displays: int = MAX_DISPLAY_EVENTS
    # Variables and the folder, below /mnt/data, of this execution only.
    env: dict[str, str] | None = None
    cwd: str | None = None
    language: str = "python"
    # Names the namespace; None is that of the kernel.
    context: str | None = None


class Execution(Job, Listener):
    def __init__(self, request: ExecutionRequest, context: JobContext, retained: RetainedBytes) -> None:
        super().__init__(context, request.limits, retained, request.max_displays)
        self._request = request
        self._memory_bytes = context.limits.memory_bytes
        self._memory: MemoryMonitor | None = None
        self._monitor: PeriodicMonitor | None = None
        self._stopping = asyncio.Event()
        self._grace: GracePeriod | None = None
        self._count: int | None = None
        self._error: tuple[str, str] | None = None
        self._error_shown = False
        self._death: KernelDeath | None = None
        self._ran = False
        self._peak = 0
        # Background processes that were killed for the next execution, the interrupted ones included.
        self._ended_processes = 0
        self._interrupted: set[int] = set()
        # In ticks of the system clock; None until the execution runs.
        self._started_ticks: int | None = None

    def _on_stop(self, kill_after_ms: int) -> None:
        """Interrupts the code, and kills the kernel after the grace period."""
        self._stopping.set()
        self._kernel.interrupt()
        if self._started_ticks is not None and not background_processes.are_too_many_to_interrupt(self._cgroup.pids_in_use(), self._kernel.processes_limit()):
            self._interrupted = background_processes.interrupt(
                self._kernel.pid, self._started_ticks, self._kernel.spared_sessions()
            )
        self._grace = GracePeriod(self._kernel.pid, kill_after_ms, self._cgroup.cpu_ms, self._kernel.kill)

    async def _work(self) -> None:
        if not await self._kernel_ready():
            return
        await self._end_background_processes()
        self._measure()
        self._started_ticks = background_processes.now_ticks()
        self._memory = MemoryMonitor(self._cgroup, self._memory_bytes, lambda: self._kernel.kill(for_memory=True))
        self._monitor = PeriodicMonitor(self._memory.check, ForkBombMonitor(self._cgroup).check)
        self.log.append("started", {"kernel_generation": self._kernel.generation})
        await self._run_cells()
        self._ran = True
        # No kill may come after this point: it would hit the next kernel.
        self._end_limits()
        await self._end_background_processes()

    def _end_limits(self) -> None:
        super()._end_limits()
        if self._grace is not None:
            self._grace.cancel()

    def _release(self) -> None:
        if self._monitor is not None:
            self._monitor.stop()

    async def _kernel_ready(self) -> bool:
        """False when the execution was stopped before a kernel was ready."""
        if self._kernel.state == "idle":
            return True
        ready = asyncio.ensure_future(self._kernel.wait_ready())
        stopped = asyncio.ensure_future(self._stopping.wait())
        await asyncio.wait((ready, stopped), return_when=asyncio.FIRST_COMPLETED)
        ready.cancel()
        stopped.cancel()
        return self._stop_reason is None

    async def _end_background_processes(self) -> None:
        """Kills the processes of a stopped execution, and all background processes when the process limit is near.

        Those of an execution that ended by itself keep running. A stopped kernel whose threads still exhaust the limit is replaced.
        """
        stopped = self._stop_reason is not None and self._started_ticks is not None
        is_near_limit = self._is_near_process_limit()
        if self._death is not None or not self._kernel.pid or not (is_near_limit or stopped):
            return
        since, spared = (0, frozenset[int]()) if is_near_limit else (self._started_ticks or 0, self._kernel.spared_sessions())
        ended = await background_processes.kill_background(self._kernel.pid, since, spared)
        self._ended_processes += len(ended | self._interrupted)
        for _ in range(_MAX_REAP_STEPS):
            if not self._is_near_process_limit():
                break
            # Process 1 reaps the killed processes meanwhile.
            await asyncio.sleep(0.01)
        if stopped and self._is_near_process_limit():
            await self._kernel.replace()

    def _is_near_process_limit(self) -> bool:
        return background_processes.is_near_limit(self._cgroup.pids_in_use(), self._kernel.processes_limit())

    async def _run_cells(self) -> None:
        aborting = False
        for index, code in enumerate(self._request.cells):
            self._outputs.index = index
            if aborting or self._stop_reason is not None:
                self.log.append("cell_done", {"index": index, "status": "aborted", "execution_count": None})
                continue
            self._count, self._error_shown = None, False
            wanted = {"code": code, "store_history": self._request.store_history, "budget": self._outputs.budget()}
            request = self._request
            scope = {"env": request.env, "cwd": request.cwd, "language": request.language, "context": request.context}
            reply = await self._request_cell({"op": "execute", **wanted, **scope})
            self._after_cell()
            if isinstance(reply, KernelDeath):
                self._death = reply
                aborting = True
                self.log.append("cell_done", {"index": index, "status": "error", "execution_count": self._count})
                continue
            failed = not reply.ok
            if failed:
                self._error = (reply.name, reply.value)
                if not self._error_shown:
                    # The error message was dropped or never came: the cell still says why it failed.
                    self._outputs.short_error(reply.name, reply.value)
                aborting = self._request.on_error == "stop"
            self.log.append("cell_done", {"index": index, "status": "error" if failed else "ok", "execution_count": self._count})

    async def _request_cell(self, fields: dict[str, object]) -> Reply | KernelDeath:
        """Runs one cell. A kernel that ended before it began the cell was dying already: the next one runs it.

        A kernel reports the begin before the cell's first instruction, and all its messages are read before its death is known.
        """
        for _ in range(_MAX_DYING_KERNELS):
            reply = await self._kernel.request(fields, self)
            has_begun = self._count is not None
            if not isinstance(reply, KernelDeath) or has_begun or reply.oom or self._stop_reason is not None:
                return reply
            self._kernel.lost_while_idle = True
            if not await self._kernel_ready():
                return reply
        return await self._kernel.request(fields, self)

    def _after_cell(self) -> None:
        if self._kernel.pid:
            self._kernel.link.drain()
            self._kernel.link.clear_fragments()
            self._peak = max(self._peak, worker_processes.peak_memory_bytes(self._kernel.pid) or 0)
        self._outputs.flush()

    def on_text(self, name: str, data: memoryview) -> None:
        self._outputs.text(name, data)
        self._check_size()

    def tail_limit(self, name: str) -> int | None:
        return self._outputs.tail_limit(name)

    def on_skipped(self, name: str, size: int) -> None:
        self._outputs.skipped(name, size)
        self._check_size()

    def on_dropped(self, size: int, reason: str) -> None:
        self._outputs.dropped(size, reason)
        self._check_size()

    def on_message(self, message: dict[str, object]) -> None:
        output = parse_output(message)
        if isinstance(output, CellStarted):
            if self._count is None:
                self._count = output.count or 0
                self.log.append("cell_started", {"index": self._outputs.index, "execution_count": output.count})
        elif isinstance(output, Display):
            self._outputs.display(output)
        elif isinstance(output, OmittedDisplays):
            self._outputs.omitted(output)
        elif isinstance(output, PlainEvent):
            self._outputs.plain(output)
        elif isinstance(output, CellError):
            is_shown = self._outputs.error(output.name, output.value, output.traceback, output.cut_bytes)
            self._error_shown = self._error_shown or is_shown
        elif isinstance(output, Malformed):
            self._outputs.dropped(0, "malformed")
        self._check_size()

    def _outcome(self) -> str:
        if self._death is not None and self._death.oom:
            return "oom"
        if self._stop_reason is not None:
            return self._stop_reason
        if self._death is not None or not self._ran:
            return "kernel_died"
        if self._error is None:
            return "ok"
        name, value = self._error
        return "disk_full" if name == "OSError" and value.startswith(("[Errno 28]", "[Errno 122]")) else "error"

    def _peak_memory_bytes(self) -> int:
        ceiling = self._cgroup.memory_peak()
        peak = max(self._peak, self._memory.peak if self._memory is not None else 0)
        return min(peak, ceiling) if ceiling is not None else peak

    def _end_fields(self, outcome: str) -> dict[str, object]:
        lost: dict[str, str] | None = None
        if self._death is not None:
            lost = {"reason": outcome if outcome in ("oom", "timed_out", "cancelled", "cpu_limit", "output_limit") else "kernel_died"}
        elif self._kernel.lost_while_idle:
            lost = {"reason": "kernel_died"}
        self._kernel.lost_while_idle = False
        ended = None if self._death is None else {"code": self._death.code, "signal": self._death.signal}
        return {"ended_processes": self._ended_processes, "state_lost": lost, "exit": ended}
