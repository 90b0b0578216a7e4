"""The end of an execution after a fault that is not the code's."""

import asyncio
import json
import unittest

from cellblock_supervisor.cgroup import Cgroup
from cellblock_supervisor.config import Limits
from cellblock_supervisor.execution.event_log import RetainedBytes
from cellblock_supervisor.execution.execution import Execution, ExecutionRequest
from cellblock_supervisor.execution.job import JobContext, JobLimits
from cellblock_supervisor.execution.kernel_host import KernelDeath
from cellblock_supervisor.execution.worker_messages import Reply, parse_reply
from cellblock_supervisor.files.tracker import Changes


class Kernel:
    """Has no process; answers each cell as configured."""

    state, pid, generation, lost_while_idle, interrupts = "idle", 0, 1, False, 0

    def __init__(self, error: Exception | None = None) -> None:
        self._error = error

    def processes_limit(self) -> None:
        return None

    def interrupt(self) -> None:
        self.interrupts += 1

    def kill(self, for_memory: bool = False) -> None: ...

    def spared_sessions(self) -> frozenset[int]:
        return frozenset()

    async def request(self, _fields: object, _listener: object) -> Reply:
        if self._error is not None:
            raise self._error
        return parse_reply({"status": "ok"})


class DyingKernel(Kernel):
    """Ends at each of its first requests: before it begins the cell, or after."""

    def __init__(self, deaths: int, begins: bool) -> None:
        super().__init__()
        self._deaths = deaths
        self._begins = begins
        self.requests = 0

    async def request(self, _fields: object, listener: object) -> Reply | KernelDeath:
        self.requests += 1
        if self.requests > self._deaths:
            return parse_reply({"status": "ok"})
        if self._begins:
            listener.on_message({"op": "input", "count": 1})  # type: ignore[attr-defined]
        return KernelDeath(0, None, False)


class Files:
    def __init__(self, error: Exception | None = None) -> None:
        self._error = error

    async def changes(self) -> Changes:
        if self._error is not None:
            raise self._error
        return Changes()


class SlowFiles(Files):
    """Compares the folder until `may_end`."""

    def __init__(self) -> None:
        super().__init__()
        self.are_compared, self.may_end = asyncio.Event(), asyncio.Event()

    async def changes(self) -> Changes:
        self.are_compared.set()
        await self.may_end.wait()
        return Changes()


def execution_of(kernel: Kernel, files: Files) -> Execution:
    request = ExecutionRequest(("1",), JobLimits(10_000, 1000, 1000), "stop", True)
    return Execution(request, JobContext(kernel, files, Cgroup(), Limits()), RetainedBytes())  # type: ignore[arg-type]


async def envelope_of(kernel: Kernel, files: Files) -> dict[str, object]:
    execution = execution_of(kernel, files)
    try:
        await execution.run()
    except OSError:
        pass
    return json.loads(execution.log.after(-1)[0].splitlines()[-1])


class Ends(unittest.IsolatedAsyncioTestCase):
    async def test_reports_files_that_cannot_be_read(self) -> None:
        whole = await envelope_of(Kernel(), Files())
        self.assertEqual((whole["outcome"], whole["skipped"]), ("ok", []))
        blind = await envelope_of(Kernel(), Files(RuntimeError("a fault of the supervisor")))
        self.assertEqual((blind["outcome"], blind["skipped"]), ("ok", [{"path": ".", "reason": "unreadable"}]))

    async def test_fails_when_the_cell_could_not_be_sent_to_the_kernel(self) -> None:
        self.assertEqual((await envelope_of(Kernel(OSError("there is no kernel")), Files()))["outcome"], "kernel_died")

    async def test_runs_a_cell_in_the_next_kernel_when_the_present_one_ended_before_it_began(self) -> None:
        kernel = DyingKernel(deaths=1, begins=False)
        end = await envelope_of(kernel, Files())
        self.assertEqual((end["outcome"], end["state_lost"], kernel.requests), ("ok", {"reason": "kernel_died"}, 2))

    async def test_runs_no_cell_twice_that_a_kernel_began(self) -> None:
        kernel = DyingKernel(deaths=1, begins=True)
        end = await envelope_of(kernel, Files())
        self.assertEqual((end["outcome"], kernel.requests), ("kernel_died", 1))

    async def test_a_stop_while_files_are_compared_has_no_effect_on_the_idle_kernel(self) -> None:
        kernel, files = Kernel(), SlowFiles()
        execution = execution_of(kernel, files)
        running = asyncio.ensure_future(execution.run())
        await files.are_compared.wait()
        execution.stop("cancelled", 0)
        files.may_end.set()
        await running
        self.assertEqual(kernel.interrupts, 0)
        self.assertEqual(json.loads(execution.log.after(-1)[0].splitlines()[-1])["outcome"], "ok")

    async def test_gives_up_when_every_kernel_ends_before_it_begins(self) -> None:
        kernel = DyingKernel(deaths=100, begins=False)
        end = await envelope_of(kernel, Files())
        self.assertEqual((end["outcome"], kernel.requests), ("kernel_died", 3))


if __name__ == "__main__":
    unittest.main()
