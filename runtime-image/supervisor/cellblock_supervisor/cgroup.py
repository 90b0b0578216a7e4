"""Reads the sandbox's control group, version 1 or 2. A figure is None where the platform does not show it."""

import functools
import math
import os
from typing import NamedTuple

from .config import WORKER_FOLDERS

_ROOT = "/sys/fs/cgroup"
# Version 1 shows "no limit" as 2^63 less a page, version 2 as `max`.
_UNLIMITED = 1 << 60


class Cgroup:
    """Keeps its files open: a read costs microseconds."""

    def __init__(self, root: str = _ROOT) -> None:
        self._is_v2 = os.path.exists(f"{root}/cgroup.controllers")
        self._root = root
        self._fds: dict[str, int] = {}
        self._tmpfs_bytes: int | None = None
        self._reported_cpu_ms: float | None = None

    def close(self) -> None:
        for fd in self._fds.values():
            os.close(fd)
        self._fds.clear()

    def memory_limit(self) -> int | None:
        value = self._number("memory.max") if self._is_v2 else self._number("memory/memory.limit_in_bytes")
        return value if value is not None and value < _UNLIMITED else None

    def memory_in_use(self) -> int | None:
        """Bytes that count towards the limit and cannot be reclaimed, tmpfs contents included."""
        used = self.memory_charged()
        return None if used is None else max(0, used - self.memory_reclaimable())

    def memory_charged(self) -> int | None:
        """All bytes that count towards the limit, in one cheap read."""
        return self._number("memory.current") if self._is_v2 else self._number("memory/memory.usage_in_bytes")

    def memory_reclaimable(self) -> int:
        """Bytes of cached files that the kernel drops under memory pressure."""
        name, key = ("memory.stat", "inactive_file") if self._is_v2 else ("memory/memory.stat", "total_inactive_file")
        return self._field(name, key) or 0

    def process_memory(self) -> int | None:
        """Anonymous memory of processes, and shared memory that is in none of the worker's sized folders: memfd, System V, shared mappings."""
        name, keys = ("memory.stat", ("anon", "shmem")) if self._is_v2 else ("memory/memory.stat", ("total_rss", "total_shmem"))
        before = tmpfs_usage().used
        anonymous, shared = self._fields(name, keys)
        if anonymous is None:
            return None
        # A file that is removed between the readings is in the first one.
        return anonymous + max(0, (shared or 0) - max(before, tmpfs_usage().used))

    def memory_peak(self) -> int | None:
        return self._number("memory.peak") if self._is_v2 else self._number("memory/memory.max_usage_in_bytes")

    def oom_kills(self) -> int:
        name = "memory.events" if self._is_v2 else "memory/memory.oom_control"
        return self._field(name, "oom_kill") or 0

    def cpu_ms(self) -> float | None:
        """Processor time of the whole sandbox so far."""
        if self._is_v2:
            used = self._field("cpu.stat", "usage_usec")
            return None if used is None else used / 1000
        used = self._number("cpuacct/cpuacct.usage")
        return None if used is None else used / 1_000_000

    def start_cpu_report(self) -> None:
        """The first call begins the report: the start of the sandbox is not part of it."""
        if self._reported_cpu_ms is None:
            self._reported_cpu_ms = self.cpu_ms()

    def take_cpu_report(self) -> float:
        """Processor time of the whole sandbox since the last report, also of programs that ran between two jobs."""
        before, self._reported_cpu_ms = self._reported_cpu_ms, self.cpu_ms()
        return 0.0 if before is None or self._reported_cpu_ms is None else self._reported_cpu_ms - before

    def cpu_limit(self) -> int | None:
        """Whole processors that the sandbox may use."""
        if self._is_v2:
            words = self._read("cpu.max").split()
            quota, period = (words[0], words[1]) if len(words) == 2 else ("", "")
        else:
            quota, period = self._read("cpu/cpu.cfs_quota_us").strip(), self._read("cpu/cpu.cfs_period_us").strip()
        if not quota.isdigit() or not period.isdigit() or int(period) == 0:
            return None
        return max(1, math.ceil(int(quota) / int(period)))

    def pids_limit(self) -> int | None:
        return self._number("pids.max") if self._is_v2 else self._number("pids/pids.max")

    def pids_in_use(self) -> int | None:
        """Processes and threads of the whole sandbox."""
        return self._number("pids.current") if self._is_v2 else self._number("pids/pids.current")

    def tmpfs_bytes(self) -> int:
        """The part of the memory limit that the worker's tmpfs folders take when they are full."""
        if self._tmpfs_bytes is None:
            self._tmpfs_bytes = tmpfs_usage().size
        return self._tmpfs_bytes

    def _number(self, name: str) -> int | None:
        text = self._read(name).strip()
        return int(text) if text.isdigit() else None

    def _field(self, name: str, key: str) -> int | None:
        return self._fields(name, (key,))[0]

    def _fields(self, name: str, keys: tuple[str, ...]) -> list[int | None]:
        """Values of one reading of the file."""
        lines = (line.split() for line in self._read(name).splitlines())
        found = {words[0]: int(words[1]) for words in lines if len(words) == 2 and words[0] in keys and words[1].isdigit()}
        return [found.get(key) for key in keys]

    def _read(self, name: str) -> str:
        try:
            if name not in self._fds:
                self._fds[name] = os.open(f"{self._root}/{name}", os.O_RDONLY | os.O_CLOEXEC)
            return os.pread(self._fds[name], 16 * 1024, 0).decode("ascii", "replace")
        except OSError:
            return ""


class TmpfsUsage(NamedTuple):
    size: int
    used: int


def tmpfs_usage() -> TmpfsUsage:
    """Bytes of the worker's tmpfs folders. Removed files that a process holds open are in use."""
    size = used = 0
    try:
        for place in _tmpfs_places():
            status = os.statvfs(place)
            size += status.f_blocks * status.f_frsize
            used += (status.f_blocks - status.f_bfree) * status.f_frsize
    except OSError:
        return TmpfsUsage(0, 0)
    return TmpfsUsage(size, used)


@functools.cache
def _tmpfs_places() -> tuple[str, ...]:
    """One path for each tmpfs."""
    with open("/proc/self/mounts", encoding="utf-8", errors="replace") as file:
        places = [line.split()[1] for line in file if line.split()[2] == "tmpfs"]
    return tuple({os.stat(place).st_dev: place for place in places if place in WORKER_FOLDERS}.values())
