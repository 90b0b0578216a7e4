"""All executions of this sandbox by id. Starting one twice runs it once."""

import asyncio
from collections import OrderedDict
from collections.abc import Coroutine
from dataclasses import dataclass

from ..cgroup import Cgroup
from ..config import Limits
from ..files.tracker import FileTracker
from .event_log import EventLog, RetainedBytes
from .execution import Execution, Request
from .kernel_host import KernelHost

# Finished executions whose last event is kept. Of older ones only the id stays, so that they never run again.
MAX_KEPT_EXECUTIONS = 500
# Bytes of the events of finished executions. Past this the oldest keep their last event only.
MAX_KEPT_BYTES = 24 * 1024 * 1024
_WARM_UP_TIMEOUT_MS = 5_000


class Busy(Exception):
    """Another execution, a snapshot or a restore is running."""


class Expired(Exception):
    """The execution ran long ago and its events are gone."""


@dataclass(frozen=True)
class FinishedExecution:
    """The events that stay of an execution. Stopping it again changes nothing."""

    log: EventLog
    done: bool = True

    def stop(self, reason: str, kill_after_ms: int) -> None: ...


class Registry:
    def __init__(self, kernel: KernelHost, files: FileTracker, cgroup: Cgroup, limits: Limits) -> None:
        self._kernel = kernel
        self._files = files
        self._cgroup = cgroup
        self._limits = limits
        self._known: OrderedDict[str, Execution | FinishedExecution] = OrderedDict()
        self._expired: set[str] = set()
        self._retained = RetainedBytes()
        self._running: Execution | None = None
        self._task: asyncio.Task[None] | None = None
        self._warm_up: asyncio.Task[None] | None = None
        # Set by a snapshot or a restore, which need the kernel exclusively.
        self.namespace_busy = False
        self._background_tasks: set[asyncio.Task[None]] = set()

    @property
    def has_run(self) -> bool:
        """Whether any execution was ever started here."""
        return bool(self._known or self._expired)

    @property
    def busy(self) -> bool:
        return self.namespace_busy or (self._running is not None and not self._running.done)

    def claim_namespace(self) -> None:
        """Keeps executions out until `namespace_busy` is cleared; raises Busy."""
        if self.busy:
            raise Busy
        self.namespace_busy = True

    def run_in_background(self, work: Coroutine[object, object, None]) -> None:
        """Runs work that no client waits for."""
        task = asyncio.get_running_loop().create_task(work)
        self._background_tasks.add(task)
        task.add_done_callback(self._background_tasks.discard)

    async def warm_up_kernel(self) -> None:
        """Runs cells without a trace, so that the first real one takes half of the processor time."""
        if self.has_run:
            return
        request = Request(("print(1)",) * 3, "stop", False, _WARM_UP_TIMEOUT_MS, 1024, 0)
        execution = Execution(request, self._kernel, self._files, self._cgroup, self._limits, RetainedBytes())
        self._warm_up = asyncio.get_running_loop().create_task(execution.run())
        await asyncio.wait((self._warm_up,))

    def find(self, execution_id: str) -> Execution | FinishedExecution | None:
        return self._known.get(execution_id)

    def start(self, execution_id: str, request: Request) -> Execution:
        """Starts a new execution; raises Busy or Expired. The caller has checked that the id is not known."""
        if execution_id in self._expired:
            raise Expired
        if self.busy:
            raise Busy
        self._free_old_events()
        execution = Execution(request, self._kernel, self._files, self._cgroup, self._limits, self._retained)
        self._known[execution_id] = execution
        self._running = execution
        # Keeps the task: a client that disconnects must not end it.
        self._task = asyncio.get_running_loop().create_task(self._run(execution_id, execution))
        return execution

    async def _run(self, execution_id: str, execution: Execution) -> None:
        try:
            if self._warm_up is not None and not self._warm_up.done():
                await asyncio.wait((self._warm_up,))
            await execution.run()
        finally:
            self._known[execution_id] = FinishedExecution(execution.log)
            self._running = None

    def _free_old_events(self) -> None:
        while len(self._known) >= MAX_KEPT_EXECUTIONS:
            execution_id, oldest = self._known.popitem(last=False)
            self._expired.add(execution_id)
            oldest.log.release()
        for execution in self._known.values():
            if self._retained.bytes <= MAX_KEPT_BYTES:
                return
            execution.log.keep_last()
