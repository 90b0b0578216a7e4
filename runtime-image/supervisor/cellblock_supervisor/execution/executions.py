"""The executions of this sandbox: one at a time, and none while a snapshot or a restore needs the kernel."""

import asyncio

from .event_log import RetainedBytes
from .execution import Execution, ExecutionRequest
from .job import JobContext, JobLimits
from .job_registry import Busy, JobRegistry

MAX_KEPT = 500
MAX_KEPT_BYTES = 24 * 1024 * 1024
_WARM_UP = ExecutionRequest(("print(1)",) * 3, JobLimits(timeout_ms=5_000, head_bytes=1024, tail_bytes=0), on_error="stop", store_history=False)


class Executions(JobRegistry[Execution, ExecutionRequest]):
    def __init__(self, context: JobContext) -> None:
        super().__init__(lambda request, retained: Execution(request, context, retained), MAX_KEPT, MAX_KEPT_BYTES)
        self._warm_up: asyncio.Task[None] | None = None
        # Set by a snapshot or a restore, which need the kernel exclusively.
        self.namespace_busy = False

    @property
    def busy(self) -> bool:
        return self.namespace_busy or not all(execution.done for execution in self._running.values())

    def claim_namespace(self) -> None:
        """Keeps executions out until `namespace_busy` is cleared; raises Busy."""
        self._check_capacity()
        self.namespace_busy = True

    async def warm_up_kernel(self) -> None:
        """Runs cells without a trace, so that the first real one takes half of the processor time."""
        if self.has_run:
            return
        self._warm_up = asyncio.get_running_loop().create_task(self._make(_WARM_UP, RetainedBytes()).run())
        await asyncio.wait((self._warm_up,))

    def _check_capacity(self) -> None:
        if self.busy:
            raise Busy

    async def _run(self, job_id: str, job: Execution) -> None:
        if self._warm_up is not None and not self._warm_up.done():
            await asyncio.wait((self._warm_up,))
        await super()._run(job_id, job)
