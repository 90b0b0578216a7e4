"""Looks at how many processes there are, and puts a crowd of them last before the supervisor has to wait for it."""

from . import worker_processes
from .cgroup import Cgroup

# A bomb doubles between two looks. Fewer than these do not hold the supervisor up.
_CROWD = 32


class CrowdWatch:
    def __init__(self, cgroup: Cgroup) -> None:
        self._cgroup = cgroup
        self._in_use = 0

    def look(self) -> None:
        before, self._in_use = self._in_use, self._cgroup.pids_in_use() or 0
        # What they start comes last as well: only who slipped through an earlier look is new, and then the number has changed.
        if self._in_use != before and self._in_use > _CROWD:
            worker_processes.put_last()
