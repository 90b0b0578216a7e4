"""Keeps many worker processes from starving the supervisor: they get the lowest scheduling class and other processors than it has."""

from ..cgroup import Cgroup
from . import processors, worker_processes

# A fork bomb doubles between two checks. Up to this many processes do not slow the supervisor down.
_MIN_PROCESSES = 32


class ForkBombMonitor:
    def __init__(self, cgroup: Cgroup) -> None:
        self._cgroup = cgroup
        self._in_use = 0

    def check(self) -> None:
        before, self._in_use = self._in_use, self._cgroup.pids_in_use() or 0
        if self._in_use <= _MIN_PROCESSES:
            processors.share()
        # Children inherit class and processors. Only a process that an earlier check missed is new, and then the count has changed.
        elif self._in_use != before:
            processors.divide(self._cgroup.cpu_limit())
            worker_processes.set_idle_scheduling()
