"""Watches the sandbox's memory and acts before the kernel's OOM killer does."""

from collections.abc import Callable

from ..cgroup import Cgroup

# Memory that stays free for the supervisor. The worker is killed when less than this is left.
RESERVE_BYTES = 24 * 1024 * 1024


class MemoryMonitor:
    """`peak` is the largest use in bytes above the start of the execution, as far as the samples show it."""

    def __init__(self, cgroup: Cgroup, configured_limit: int | None, on_full: Callable[[], None]) -> None:
        """`configured_limit`, for processes alone and in bytes, applies where the cgroup has no limit."""
        self._cgroup = cgroup
        self._on_full = on_full
        # Read for each execution: a pooled sandbox grows when it is claimed.
        self._limit = cgroup.memory_limit()
        tmpfs = cgroup.tmpfs_bytes()
        if self._limit is None and configured_limit is not None:
            self._limit = configured_limit + tmpfs
        self._private_limit = self._limit - tmpfs if self._limit is not None and self._limit > tmpfs else None
        # The reclaimable part is read at the first check: most cells end before it.
        self._charged_at_start = cgroup.memory_charged() or 0
        self._start: int | None = None
        self.peak = 0

    def check(self) -> None:
        used = self._cgroup.memory_in_use()
        if used is not None:
            if self._start is None:
                self._start = max(0, self._charged_at_start - self._cgroup.memory_reclaimable())
            self.peak = max(self.peak, used - self._start)
            if self._is_full(used):
                self._on_full()

    def _is_full(self, used: int) -> bool:
        """The whole limit is nearly used, or processes use memory that is reserved for tmpfs files."""
        if self._limit is not None and used > self._limit - RESERVE_BYTES:
            return True
        return self._private_limit is not None and (self._cgroup.process_memory() or 0) > self._private_limit - RESERVE_BYTES
