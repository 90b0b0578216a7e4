"""os.sched_getaffinity within the processor limit of the sandbox, in every Python program; Python itself counts as PYTHON_CPU_COUNT says.

The limit is a quota of time and no set of processors. Processes are not pinned: busy sandboxes on the same processor would wait while others are idle.
"""

import os

_limit = os.environ.get("PYTHON_CPU_COUNT", "")
_processors_of = os.sched_getaffinity


def sched_getaffinity(pid: int, /) -> set[int]:
    """Return the affinity of the process identified by pid (or the current process if zero), within the limit of the sandbox."""
    return set(sorted(_processors_of(pid))[: int(_limit)])


if _limit.isdigit() and int(_limit) > 0:
    os.sched_getaffinity = sched_getaffinity
