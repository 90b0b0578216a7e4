"""Turns a forked root process into a worker: another UID, no capabilities, resource limits, a seccomp filter and Landlock."""

import contextlib
import ctypes
import os
import resource
import signal
from collections.abc import Iterator
from typing import NamedTuple

from ...config import WORKER_GID, WORKER_PRIORITY, WORKER_UID
from . import landlock, seccomp

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE = 1, 4
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_MADV_DONTNEED = 4

_libc = ctypes.CDLL(None, use_errno=True)


class Rlimits(NamedTuple):
    """`processes` and `memory_bytes` are None where the cgroup has a limit. RLIMIT_NPROC counts a UID over the whole host."""

    processes: int | None
    open_files: int
    file_bytes: int | None
    memory_bytes: int | None


def become_worker(limits: Rlimits) -> None:
    """Irreversible. Raises OSError when a step is refused; the caller must then exit without running anything."""
    restrict(limits)
    change_identity()


def restrict(limits: Rlimits) -> None:
    """Everything about a worker but its identity: a session, limits, the filters. Irreversible. Raises OSError as `become_worker`."""
    # Before the UID changes: afterwards /proc/self belongs to root. The OOM killer takes the worker first. A file object would load a codec.
    score = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
    os.write(score, b"1000")
    os.close(score)
    os.setsid()
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_NOFILE, limits.open_files)
    _limit(resource.RLIMIT_MEMLOCK, 64 * 1024)
    # gVisor has no message queues and no limit for them.
    with contextlib.suppress(ValueError):
        _limit(resource.RLIMIT_MSGQUEUE, 0)
    if limits.file_bytes is not None:
        _limit(resource.RLIMIT_FSIZE, limits.file_bytes)
    if limits.memory_bytes is not None:
        # Private writable memory. RLIMIT_AS would count address space that programs reserve and never use.
        _limit(resource.RLIMIT_DATA, limits.memory_bytes)
    if limits.processes is not None:
        _limit(resource.RLIMIT_NPROC, limits.processes)
    os.umask(0o022)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    seccomp.install()
    landlock.confine_writes()


def change_identity() -> None:
    """The last step of a restricted process before it runs code of a tenant. Irreversible. Raises OSError as `become_worker`."""
    os.nice(WORKER_PRIORITY)
    os.setgroups([])
    os.setresgid(WORKER_GID, WORKER_GID, WORKER_GID)
    os.setresuid(WORKER_UID, WORKER_UID, WORKER_UID)
    # A change of UID clears both: the worker dies with its parent and owns its /proc/self again.
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    _libc.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)


@contextlib.contextmanager
def files_owned_by_worker() -> Iterator[None]:
    """Files that a root process makes meanwhile belong to the worker. It can change back, so no code of a tenant may run in it."""
    os.setegid(WORKER_GID)
    os.seteuid(WORKER_UID)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
        # The changes made the memory readable as the system's default is.
        hide_memory()


def hide_memory() -> None:
    """Makes this process unreadable to unprivileged processes of any UID. An exec undoes it."""
    _libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def return_memory_early() -> None:
    """Returns free blocks of 256 KiB and more to the system at once, so that one large output does not stay in memory."""
    _libc.mallopt(_M_MMAP_THRESHOLD, 256 * 1024)
    _libc.mallopt(_M_TRIM_THRESHOLD, 1024 * 1024)


def return_free_memory() -> None:
    _libc.malloc_trim(0)


def unmap_used_code() -> None:
    """Releases the pages of libraries that this process has read so far. They stay in the page cache, which maps them again where they are used.

    A process that imports and then only forks needs few of them, and a fork maps none.
    """
    # A system without this file keeps the pages.
    with contextlib.suppress(FileNotFoundError):
        for start, end in _unchanged_file_mappings():
            _libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), _MADV_DONTNEED)


def _unchanged_file_mappings() -> Iterator[tuple[int, int]]:
    """Mappings of files that this process cannot write to and whose pages are all those of the file: a relocated page is anonymous or swapped out."""
    mapping: tuple[int, int] | None = None
    with open("/proc/self/smaps", encoding="utf-8", errors="replace") as lines:
        for line in lines:
            name, *fields = line.split(maxsplit=5)
            if not name.endswith(":"):
                is_file = len(fields) == 5 and fields[4].startswith("/")
                start, end = (int(part, 16) for part in name.split("-"))
                mapping = (start, end) if is_file and fields[0] in ("r-xp", "r--p") else None
            elif name in ("Anonymous:", "Swap:") and fields[0] != "0":
                mapping = None
            elif name == "VmFlags:" and mapping is not None:
                yield mapping


def _limit(which: int, value: int) -> None:
    _, hard = resource.getrlimit(which)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(which, (value, value))
