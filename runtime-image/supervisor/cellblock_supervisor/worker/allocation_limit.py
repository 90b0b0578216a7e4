"""Lets one allocation far beyond the memory of the sandbox fail as MemoryError.

Linux grants such an allocation, and the kernel ends with all variables when code writes to it. Smaller ones together can still end it.
"""

import resource

# Of either version of cgroups.
_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
# Memory that is reserved and never written counts too: pyarrow reserves 1 GiB, the stacks of 100 threads 0.8 GiB.
_RESERVED_BYTES = 3 * 1024**3
# cgroups write "no limit" as a number like this.
_UNLIMITED_BYTES = 2**60

_applied = 0


def apply() -> None:
    """Before each cell: the engine may have raised the limit since the last one. Keeps a limit that code has set."""
    global _applied
    memory = _memory_bytes()
    if memory is None or memory == _applied:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard == resource.RLIM_INFINITY:
        resource.setrlimit(resource.RLIMIT_DATA, (memory + _RESERVED_BYTES, hard))
    _applied = memory


def _memory_bytes() -> int | None:
    for path in _LIMITS:
        try:
            with open(path, encoding="ascii") as file:
                memory = int(file.read())
        except (OSError, ValueError):
            continue
        return memory if memory < _UNLIMITED_BYTES else None
    return None
