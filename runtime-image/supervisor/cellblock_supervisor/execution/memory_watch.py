"""Looks at the sandbox's memory, and acts before the kernel's own killer has to."""

from collections.abc import Callable

from .cgroup import Cgroup

# What the supervisor keeps for itself: the worker is killed when less than this is left.
RESERVE_BYTES = 24 * 1024 * 1024


class MemoryWatch:
    """`peak` is the most that was in use above the start of the execution, in bytes, as far as looking showed it."""

    def __init__(self, cgroup: Cgroup, otherwise: int | None, on_full: Callable[[], None]) -> None:
        """`otherwise` is the limit in bytes where the container around the sandbox sets none."""
        self._cgroup = cgroup
        self._on_full = on_full
        # The limit is read anew each time: a sandbox from the pool grows when it is claimed.
        self._limit = cgroup.memory_limit() or otherwise
        set_aside = cgroup.tmpfs_bytes()
        self._private_limit = self._limit - set_aside if self._limit is not None and self._limit > set_aside else None
        # What of it can be reclaimed is looked up later: most cells are over by then.
        self._charged_at_start = cgroup.memory_charged() or 0
        self._start: int | None = None
        self.peak = 0

    def look(self) -> None:
        used = self._cgroup.memory_in_use()
        if used is not None:
            if self._start is None:
                self._start = max(0, self._charged_at_start - self._cgroup.memory_reclaimable())
            self.peak = max(self.peak, used - self._start)
            if self._is_full(used):
                self._on_full()

    def _is_full(self, used: int) -> bool:
        """All of it is nearly gone, or processes have eaten what is set aside for files in memory."""
        if self._limit is not None and used > self._limit - RESERVE_BYTES:
            return True
        return self._private_limit is not None and (self._cgroup.private_memory() or 0) > self._private_limit - RESERVE_BYTES
