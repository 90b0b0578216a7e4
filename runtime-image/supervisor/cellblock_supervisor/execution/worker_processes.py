"""Signals, order and figures of the worker's processes, by UID and by process id."""

import contextlib
import os
import signal
from collections.abc import Iterator

from ..config import WORKER_UID

# Nobody's UID: while it is our real one and the worker's the effective one, what goes to "everybody" reaches the worker's processes and none of ours.
_SIGNALLER_UID = 10003


def kill_all() -> None:
    """Kills every process of the worker in one atomic step (no fork can slip through), and nothing else."""
    _signal_all(signal.SIGKILL)


def halt_all() -> None:
    """Has every process of the worker stand still, in one such step."""
    _signal_all(signal.SIGSTOP)


def go_on_all() -> None:
    _signal_all(signal.SIGCONT)


def put_last() -> None:
    """Has every process of the worker, and what it will start, run only when nothing else in the sandbox wants to. There is no way back.

    Threads other than a process's first stay as they are. Not every kernel knows this class: then nothing changes.
    """
    own = os.getpid()
    with _rights_of_the_worker():
        for name in os.listdir("/proc"):
            if name.isdigit() and int(name) != own:
                with contextlib.suppress(OSError):
                    os.sched_setscheduler(int(name), os.SCHED_IDLE, os.sched_param(0))


def _signal_all(number: signal.Signals) -> None:
    with _rights_of_the_worker(), contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(-1, number)


@contextlib.contextmanager
def _rights_of_the_worker() -> Iterator[None]:
    os.setresuid(_SIGNALLER_UID, WORKER_UID, 0)
    try:
        yield
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
