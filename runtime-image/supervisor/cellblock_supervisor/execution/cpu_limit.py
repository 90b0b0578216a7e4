"""Ends code that has used its processor time. The time is that of the whole sandbox."""

import asyncio
import os
from collections.abc import Callable

from ..cgroup import Cgroup

_MIN_PAUSE_SECONDS = 0.05


def watch_cpu(cgroup: Cgroup, start_ms: float | None, limit_ms: int | None, on_limit: Callable[[], None]) -> asyncio.Task[None] | None:
    """A task that calls `on_limit` once; the caller cancels it when the code has ended. None when there is nothing to watch."""
    if limit_ms is None or start_ms is None:
        return None
    return asyncio.get_running_loop().create_task(_watch(cgroup, start_ms + limit_ms, on_limit))


async def _watch(cgroup: Cgroup, end_ms: float, on_limit: Callable[[], None]) -> None:
    """Sleeps until the limit can be reached at the earliest, with all processors busy, and checks again."""
    processors = os.cpu_count() or 1
    while (left := end_ms - (cgroup.cpu_ms() or 0.0)) > 0:
        await asyncio.sleep(max(_MIN_PAUSE_SECONDS, left / 1000 / processors))
    on_limit()
