"""Looks at how many processes there are while an execution runs, and puts a crowd of them last before the supervisor has to wait for it."""

import asyncio

from . import worker_processes
from .cgroup import Cgroup

_EVERY_SECONDS = 0.05
# A bomb doubles between two looks. Fewer than these do not hold the supervisor up.
_CROWD = 32


class CrowdWatch:
    def __init__(self, cgroup: Cgroup) -> None:
        self._cgroup = cgroup
        self._in_use = 0
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(_EVERY_SECONDS, self._look)

    def stop(self) -> None:
        self._timer.cancel()

    def _look(self) -> None:
        before, self._in_use = self._in_use, self._cgroup.pids_in_use() or 0
        # What they start comes last as well: only who slipped through an earlier look is new, and then the number has changed.
        if self._in_use != before and self._in_use > _CROWD:
            worker_processes.put_last()
        self._timer = self._loop.call_later(_EVERY_SECONDS, self._look)
