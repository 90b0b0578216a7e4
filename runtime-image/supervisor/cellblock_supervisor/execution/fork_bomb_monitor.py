"""Gives many worker processes the lowest scheduling class, so that a fork bomb cannot starve the supervisor."""

from ..cgroup import Cgroup
from . import worker_processes

# A fork bomb doubles between two checks. Up to this many processes do not slow the supervisor down.
_MIN_PROCESSES = 32


class ForkBombMonitor:
    def __init__(self, cgroup: Cgroup) -> None:
        self._cgroup = cgroup
        self._in_use = 0

    def check(self) -> None:
        before, self._in_use = self._in_use, self._cgroup.pids_in_use() or 0
        # Children inherit the class. Only a process that an earlier check missed is new, and then the count has changed.
        if self._in_use != before and self._in_use > _MIN_PROCESSES:
            worker_processes.set_idle_scheduling()
