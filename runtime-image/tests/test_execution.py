"""The end of an execution after a fault that is not the code's."""

import json
import unittest

from cellblock_supervisor.config import Limits
from cellblock_supervisor.execution.cgroup import Cgroup
from cellblock_supervisor.execution.event_log import RetainedBytes
from cellblock_supervisor.execution.execution import Execution, Request
from cellblock_supervisor.execution.worker_messages import Reply, parse_reply
from cellblock_supervisor.files.tracker import Changes


class Kernel:
    """Has no process; answers each cell as configured."""

    state, pid, generation, lost_while_idle = "idle", 0, 1, False

    def __init__(self, error: Exception | None = None) -> None:
        self._error = error

    def processes_limit(self) -> None:
        return None

    def interrupt(self) -> None: ...
    def kill(self, for_memory: bool = False) -> None: ...

    async def request(self, _fields: object, _listener: object) -> Reply:
        if self._error is not None:
            raise self._error
        return parse_reply({"status": "ok"})


class Files:
    def __init__(self, error: Exception | None = None) -> None:
        self._error = error

    async def changes(self) -> Changes:
        if self._error is not None:
            raise self._error
        return Changes()


async def envelope_of(kernel: Kernel, files: Files) -> dict[str, object]:
    request = Request(("1",), "stop", True, 10_000, 1000, 1000)
    execution = Execution(request, kernel, files, Cgroup(), Limits(), RetainedBytes())  # type: ignore[arg-type]
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


if __name__ == "__main__":
    unittest.main()
