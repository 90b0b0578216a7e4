"""Lets one allocation far beyond the memory of the sandbox fail as MemoryError.

Linux grants such an allocation, and the kernel ends with all variables when code writes to it. Smaller ones together can still end it.
"""

import contextlib
import resource

from ...cgroup import Cgroup

# Memory that is reserved and never written counts too: pyarrow reserves 1 GiB, the stacks of 100 threads 0.8 GiB.
_RESERVED_BYTES = 3 * 1024**3

_applied = 0


def apply() -> None:
    """Before each cell: the engine may have raised the limit since the last one. Until it does, a limit that code has set stays."""
    global _applied
    # Not kept open: user code may close its descriptors.
    with contextlib.closing(Cgroup()) as cgroup:
        memory = cgroup.memory_limit()
    if memory is None or memory == _applied:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard == resource.RLIM_INFINITY:
        resource.setrlimit(resource.RLIMIT_DATA, (memory + _RESERVED_BYTES, hard))
    _applied = memory
