"""Processes that user code started and left: ended when they stand in the way, the kernel spared."""

import asyncio
import os
import signal
import time
from collections.abc import Iterator

from ..config import WORKER_UID
from . import worker_processes

# Among more than this the search for those to interrupt would take longer than it spares.
_MANY = 64
# A table of processes fuller than this leaves too little for the next execution.
CROWDED = 0.75
# Two seconds at the most: a full table of processes takes some tenths of one to end.
_LOOKS = 100
_BETWEEN_LOOKS_SECONDS = 0.02
_WORKER = str(WORKER_UID).encode()
_TICKS = os.sysconf("SC_CLK_TCK")


def now_ticks() -> int:
    """The present in the unit in which the system notes when a process began."""
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * _TICKS)


def is_crowded(in_use: int | None, limit: int | None) -> bool:
    return in_use is not None and limit is not None and in_use > CROWDED * limit


def are_many(in_use: int | None, limit: int | None) -> bool:
    return is_crowded(in_use, limit) or (in_use or 0) > _MANY


def interrupt(kernel_pid: int, since_ticks: int) -> set[int]:
    """SIGINT to what began since then, the kernel excepted; answers to which. Code that waits for a program hears its own once that has ended."""
    pids = {pid for pid, began in _worker_processes() if pid != kernel_pid and began >= since_ticks}
    for pid in pids:
        worker_processes.send(pid, signal.SIGINT)
    return pids


async def end_all(kernel_pid: int, since_ticks: int = 0) -> set[int]:
    """Ends the worker's processes but the kernel, as far as they began at `since_ticks` or later; answers which.

    All of them stand still meanwhile: none multiplies, and none takes the processor from whoever counts them. One that was forking when it was told
    to still brings that to its end, and its child is seen only by a later look: looks go on until nothing is left.
    """
    ended: set[int] = set()
    worker_processes.halt_all()
    try:
        for _ in range(_LOOKS):
            alive = {pid for pid, began in _worker_processes() if pid != kernel_pid and began >= since_ticks}
            for pid in alive - ended:
                worker_processes.send(pid, signal.SIGKILL)
            ended |= alive
            if not alive:
                break
            # Process 1 takes in what has ended while this waits.
            await asyncio.sleep(_BETWEEN_LOOKS_SECONDS)
        return ended
    finally:
        worker_processes.go_on_all()


def _worker_processes() -> Iterator[tuple[int, int]]:
    """Process id and begin of each that is alive. The name of a process is hostile text: it is skipped by its bracket."""
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            # Its own word for its UID: the owner of its folder is root once it hides its memory.
            with open(f"/proc/{name}/status", "rb") as file:
                uid = next((line.split()[1] for line in file if line.startswith(b"Uid:")), b"")
            if uid != _WORKER:
                continue
            with open(f"/proc/{name}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
            if fields[0] not in (b"Z", b"X"):
                yield int(name), int(fields[19])
        except (OSError, IndexError, ValueError):
            continue
