"""Processes that user code started and left running. They are killed when they endanger the next execution; the kernel is spared."""

import asyncio
import os
import signal
import time

from . import worker_processes

# With more processes than this, finding those to interrupt takes longer than the grace period that it would save.
_MAX_TO_INTERRUPT = 64
# Above this fraction of the process limit the next execution may fail to fork.
LIMIT_FRACTION = 0.75
# Two seconds in total: killing a full process table takes some tenths of a second.
_MAX_SCANS = 100
_SCAN_INTERVAL_SECONDS = 0.02
_TICKS = os.sysconf("SC_CLK_TCK")


def now_ticks() -> int:
    """The current time in the unit of a process's start time in /proc."""
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * _TICKS)


def is_near_limit(in_use: int | None, limit: int | None) -> bool:
    return in_use is not None and limit is not None and in_use > LIMIT_FRACTION * limit


def are_too_many_to_interrupt(in_use: int | None, limit: int | None) -> bool:
    return is_near_limit(in_use, limit) or (in_use or 0) > _MAX_TO_INTERRUPT


def interrupt(kernel_pid: int, since_ticks: int, spared: frozenset[int]) -> set[int]:
    """Sends SIGINT to every worker process started since then, except the kernel and the spared sessions; returns their ids.

    Code that waits for a child process receives its own interrupt when the child has ended.
    """
    pids = _started_since(kernel_pid, since_ticks, spared)
    for pid in pids:
        worker_processes.send(pid, signal.SIGINT)
    return pids


async def kill_background(kernel_pid: int, since_ticks: int = 0, spared: frozenset[int] = frozenset()) -> set[int]:
    """Kills every worker process started at `since_ticks` or later, except the kernel and the spared sessions; returns their ids.

    All worker processes are stopped (SIGSTOP) meanwhile, so that none forks. A fork that had already begun still completes, and only a later scan
    sees its child: the scans repeat until one finds nothing.
    """
    killed: set[int] = set()
    worker_processes.suspend_all()
    try:
        for _ in range(_MAX_SCANS):
            alive = _started_since(kernel_pid, since_ticks, spared)
            for pid in alive - killed:
                worker_processes.send(pid, signal.SIGKILL)
            killed |= alive
            if not alive:
                break
            # Process 1 reaps the killed processes meanwhile.
            await asyncio.sleep(_SCAN_INTERVAL_SECONDS)
        return killed
    finally:
        worker_processes.resume_all()


def _started_since(kernel_pid: int, since_ticks: int, spared: frozenset[int]) -> set[int]:
    return {
        process.pid
        for process in worker_processes.worker_processes()
        if process.pid != kernel_pid and process.started >= since_ticks and process.session not in spared
    }
