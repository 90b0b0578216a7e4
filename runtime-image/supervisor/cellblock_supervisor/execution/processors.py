"""The processors of the supervisor and of the worker's processes: all for both, but apart while there are many processes."""

import contextlib
import os

from ..config import WORKER_UID
from . import worker_processes

_ALL = sorted(os.sched_getaffinity(0))


def divide(limit: int | None) -> None:
    """Gives the worker's processes as many processors as their limit is worth and the supervisor the others, where others are left.

    Linux owes each process that waits for a processor up to two time slices there, whatever its class, and until all are paid the supervisor would wait.
    `limit` is in processors. Sandboxes differ in UID, so that not all use the same ones.
    """
    if limit is None or limit >= len(_ALL):
        return
    first = WORKER_UID % len(_ALL)
    turned = _ALL[first:] + _ALL[:first]
    # The supervisor first: among many processes it may wait for a second before it can move them.
    _set_own(turned[limit:])
    worker_processes.set_affinity(turned[:limit])


def share() -> None:
    """Ends a division. Also before a new process of the supervisor's starts, because it inherits the processors."""
    if os.sched_getaffinity(0) != set(_ALL):
        _set_own(_ALL)
        worker_processes.set_affinity(_ALL)


def _set_own(processors: list[int]) -> None:
    with contextlib.suppress(OSError):
        os.sched_setaffinity(0, processors)
