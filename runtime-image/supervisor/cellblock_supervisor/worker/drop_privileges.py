"""Turns a freshly forked root process into a worker: another UID, no capability, limits, and what it may write and call."""

import ctypes
import os
import resource
import signal
from dataclasses import dataclass

from ..config import WORKER_GID, WORKER_UID
from . import landlock, seccomp

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE = 1, 4
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3


@dataclass(frozen=True)
class Rlimits:
    """`processes` is None where the container's own pids limit holds: RLIMIT_NPROC counts a UID over the whole host."""

    processes: int | None
    open_files: int
    file_bytes: int | None


def become_worker(limits: Rlimits) -> None:
    """Irreversible. Raises OSError when any step is refused; the caller must then exit without running anything."""
    # Written before the UID changes: afterwards /proc/self belongs to root. The worker is the first to go when memory ends.
    with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write("1000")
    os.setsid()
    # Inside the sandbox the supervisor comes first: a fifth of the processor is its own even beside 250 busy processes.
    os.nice(19)
    os.setgroups([])
    os.setresgid(WORKER_GID, WORKER_GID, WORKER_GID)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_NOFILE, limits.open_files)
    _limit(resource.RLIMIT_MEMLOCK, 64 * 1024)
    _limit(resource.RLIMIT_MSGQUEUE, 0)
    if limits.file_bytes is not None:
        _limit(resource.RLIMIT_FSIZE, limits.file_bytes)
    if limits.processes is not None:
        _limit(resource.RLIMIT_NPROC, limits.processes)
    os.setresuid(WORKER_UID, WORKER_UID, WORKER_UID)
    os.umask(0o022)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    libc = ctypes.CDLL(None, use_errno=True)
    # A change of UID clears both: the worker dies with its parent, and owns its own /proc/self again.
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    libc.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)
    seccomp.install()
    landlock.confine_writes()


def hide_memory() -> None:
    """Makes this process unreadable to others of any UID without privilege; needed again after every exec."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def return_memory_early() -> None:
    """Blocks of 256 KiB and more go back to the system as soon as they are free, so that one large output leaves no trace."""
    libc = ctypes.CDLL(None)
    libc.mallopt(_M_MMAP_THRESHOLD, 256 * 1024)
    libc.mallopt(_M_TRIM_THRESHOLD, 1024 * 1024)


def return_free_memory() -> None:
    ctypes.CDLL(None).malloc_trim(0)


def _limit(which: int, value: int) -> None:
    _, hard = resource.getrlimit(which)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(which, (value, value))
