"""Signals, scheduling and memory figures of the worker's processes, by UID and by process id."""

import contextlib
import os
import signal
from collections.abc import Callable, Iterator

from ..config import WORKER_UID

# No process runs under this UID. With it as real UID and the worker's as effective UID, a signal to "all processes" reaches the worker's only.
_SIGNALLER_UID = 10003


# Forks that had begun before the stop complete between two scans. The list of processes is complete when a scan finds no new one.
_MAX_KILL_SCANS = 100
_WORKER = str(WORKER_UID).encode()


def kill_all(spared: frozenset[int] = frozenset()) -> None:
    """Kills every process of the worker, and no other process. `spared` are sessions that stay: those of running commands.

    Without a spared session it is one atomic step. Otherwise all processes are stopped meanwhile, so that no fork escapes.
    """
    if not spared:
        _signal_all(signal.SIGKILL)
        return
    suspend_all()
    try:
        _kill_until_none(lambda session: session not in spared)
    finally:
        resume_all()


def kill_session(session: int) -> None:
    """Kills every process of one session. Processes that left it are not found."""
    _kill_until_none(lambda of: of == session)


def _kill_until_none(is_meant: Callable[[int], bool]) -> None:
    killed: set[int] = set()
    for _ in range(_MAX_KILL_SCANS):
        found = {pid for pid, _, session in worker_processes() if is_meant(session)} - killed
        if not found:
            return
        for pid in found:
            send(pid, signal.SIGKILL)
        killed |= found


def worker_processes() -> Iterator[tuple[int, int, int]]:
    """Id, start time in ticks and session of each live worker process. Names are hostile text: parsing starts after the closing bracket."""
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            # Not the owner of the folder: that is root for a process that hides its memory.
            with open(f"/proc/{name}/status", "rb") as file:
                uid = next((line.split()[1] for line in file if line.startswith(b"Uid:")), b"")
            if uid != _WORKER:
                continue
            with open(f"/proc/{name}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
            if fields[0] not in (b"Z", b"X"):
                yield int(name), int(fields[19]), int(fields[3])
        except (OSError, IndexError, ValueError):
            continue


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


def is_runnable(pid: int) -> bool:
    """Whether the process's main thread runs or waits for a processor."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] == b"R"
    except (OSError, IndexError):
        return False


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
