"""Signals, scheduling and memory figures of the worker's processes, by UID and by process id."""

import contextlib
import os
import signal
from collections.abc import Iterator

from ..config import WORKER_UID

# No process runs under this UID. With it as real UID and the worker's as effective UID, a signal to "all processes" reaches the worker's only.
_SIGNALLER_UID = 10003


def kill_all() -> None:
    """Kills every process of the worker in one atomic step (no fork can escape), and no other process."""
    _signal_all(signal.SIGKILL)


def suspend_all() -> None:
    """Stops every process of the worker in one atomic step."""
    _signal_all(signal.SIGSTOP)


def resume_all() -> None:
    _signal_all(signal.SIGCONT)


def set_idle_scheduling() -> None:
    """Puts every process of the worker and its future children into SCHED_IDLE, irreversibly.

    Threads other than a process's first keep their class. On a kernel without this class nothing changes.
    """
    own = os.getpid()
    with credentials():
        for name in os.listdir("/proc"):
            if name.isdigit() and int(name) != own:
                with contextlib.suppress(OSError):
                    os.sched_setscheduler(int(name), os.SCHED_IDLE, os.sched_param(0))


def _signal_all(number: signal.Signals) -> None:
    with credentials(), contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(-1, number)


@contextlib.contextmanager
def credentials() -> Iterator[None]:
    """The worker's rights for what the block does, without being one of its processes."""
    os.setresuid(_SIGNALLER_UID, WORKER_UID, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)


def send(pid: int, number: signal.Signals) -> None:
    """Sends a signal to one process. 0 means that there is no kernel; os.kill would take it for the supervisor's own process group."""
    if pid <= 0:
        return
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def peak_memory_bytes(pid: int) -> int | None:
    """The process's high-water mark since its last reset. User code can forge it, so callers bound it."""
    try:
        with open(f"/proc/{pid}/status", "rb") as file:
            for line in file:
                if line.startswith(b"VmHWM:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return None
