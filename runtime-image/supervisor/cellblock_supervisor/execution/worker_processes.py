"""Signals and figures of the worker's processes, by UID and by process id."""

import os
import signal

from ..config import WORKER_UID

# Nobody's UID: while it is our real one, a signal to "everybody" reaches the worker's processes and none of ours.
_SIGNALLER_UID = 10003


def kill_all() -> None:
    """Kills every process of the worker in one atomic step (no fork can slip through), and nothing else."""
    _signal_all(signal.SIGKILL)


def halt_all() -> None:
    """Has every process of the worker stand still, in one such step."""
    _signal_all(signal.SIGSTOP)


def go_on_all() -> None:
    _signal_all(signal.SIGCONT)


def _signal_all(number: signal.Signals) -> None:
    os.setresuid(_SIGNALLER_UID, WORKER_UID, 0)
    try:
        os.kill(-1, number)
    except (ProcessLookupError, PermissionError):
        pass
    finally:
        os.setresuid(0, 0, 0)


def send(pid: int, number: signal.Signals) -> None:
    """A signal to one process; 0 stands for a kernel that is gone, and would mean our own process group to the system."""
    if pid <= 0:
        return
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def peak_memory_bytes(pid: int) -> int | None:
    """The process's high-water mark since it last reset it; user code can make it lie, so callers bound it."""
    try:
        with open(f"/proc/{pid}/status", "rb") as file:
            for line in file:
                if line.startswith(b"VmHWM:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return None
