"""Reads the sandbox's own control group, version 1 or 2. Every figure is None where the platform does not show it."""

import os

_ROOT = "/sys/fs/cgroup"
# A v1 limit this high means "no limit".
_UNLIMITED = 1 << 60


class Cgroup:
    """Files stay open and are read from their start each time: a read costs microseconds."""

    def __init__(self, root: str = _ROOT) -> None:
        self._is_v2 = os.path.exists(f"{root}/cgroup.controllers")
        self._root = root
        self._fds: dict[str, int] = {}

    def memory_limit(self) -> int | None:
        value = self._number("memory.max") if self._is_v2 else self._number("memory/memory.limit_in_bytes")
        return value if value is not None and value < _UNLIMITED else None

    def memory_in_use(self) -> int | None:
        """Bytes that count towards the limit and cannot simply be reclaimed; tmpfs contents are among them."""
        used = self._number("memory.current") if self._is_v2 else self._number("memory/memory.usage_in_bytes")
        if used is None:
            return None
        name, key = ("memory.stat", "inactive_file") if self._is_v2 else ("memory/memory.stat", "total_inactive_file")
        return max(0, used - (self._field(name, key) or 0))

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

    def pids_limit(self) -> int | None:
        return self._number("pids.max") if self._is_v2 else self._number("pids/pids.max")

    def _number(self, name: str) -> int | None:
        text = self._read(name).strip()
        return int(text) if text.isdigit() else None

    def _field(self, name: str, key: str) -> int | None:
        for line in self._read(name).splitlines():
            words = line.split()
            if len(words) == 2 and words[0] == key and words[1].isdigit():
                return int(words[1])
        return None

    def _read(self, name: str) -> str:
        try:
            if name not in self._fds:
                self._fds[name] = os.open(f"{self._root}/{name}", os.O_RDONLY | os.O_CLOEXEC)
            return os.pread(self._fds[name], 16 * 1024, 0).decode("ascii", "replace")
        except OSError:
            return ""
