"""Processes that user code started and left: ended when they stand in the way, the kernel spared."""

import os
import signal
import time

from ..config import WORKER_UID

# A table of processes fuller than this leaves too little for the next execution.
CROWDED = 0.75
# Stopped processes cannot multiply, so a few rounds catch every bomb that a limit of processes holds.
_ROUNDS = 12
_TICKS = os.sysconf("SC_CLK_TCK")


def now_ticks() -> int:
    """The present in the unit in which the system notes when a process began."""
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * _TICKS)


def is_crowded(in_use: int | None, limit: int | None) -> bool:
    return in_use is not None and limit is not None and in_use > CROWDED * limit


def end_all(kernel_pid: int, since_ticks: int = 0) -> int | None:
    """Ends the worker's processes but the kernel, as far as they began at `since_ticks` or later; answers how many.

    None when they multiplied faster than they could be stopped: then only the end of all of them helps, the kernel included.
    """
    stopped: set[int] = set()
    for _ in range(_ROUNDS):
        fresh = [pid for pid in _worker_processes(since_ticks) if pid != kernel_pid and pid not in stopped]
        if not fresh:
            _signal_all(stopped, signal.SIGKILL)
            return len(stopped)
        _signal_all(fresh, signal.SIGSTOP)
        stopped.update(fresh)
    _signal_all(stopped, signal.SIGKILL)
    return None


def _signal_all(pids: list[int] | set[int], number: signal.Signals) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def _worker_processes(since_ticks: int) -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and _is_worker(name, since_ticks)]


def _is_worker(pid: str, since_ticks: int) -> bool:
    """Alive, of the worker's UID, and begun at `since_ticks` or later. The name of a process is hostile text: it is skipped by its bracket."""
    try:
        with open(f"/proc/{pid}/status", "rb") as file:
            uid = next((line.split()[1] for line in file if line.startswith(b"Uid:")), b"")
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        return uid == str(WORKER_UID).encode() and fields[0] not in (b"Z", b"X") and int(fields[19]) >= since_ticks
    except (OSError, IndexError, ValueError):
        return False
