"""Signals, scheduling and memory figures of the worker's processes, by UID and by process id."""

import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ..config import WORKER_UID

# No process runs under this UID. With it as real UID and the worker's as effective UID, a signal to "all processes" reaches the worker's only.
_SIGNALLER_UID = 10003


# Forks that had begun before the stop complete between two scans. The list of processes is complete when a scan finds no new one.
_MAX_KILL_SCANS = 100
_WORKER = str(WORKER_UID).encode()


class WorkerProcess(NamedTuple):
    """`started` is in ticks of the system clock since boot."""

    pid: int
    started: int
    session: int
    parent: int


def kill_all(spared: frozenset[int] = frozenset()) -> None:
    """Kills every process of the worker, and no other process. `spared` are sessions that stay: those of running commands.

    Without a spared session it is one atomic step. Otherwise all processes are stopped meanwhile, so that no fork escapes.
    """
    if not spared:
        _signal_all(signal.SIGKILL)
        return
    suspend_all()
    try:
        _kill_until_none(lambda alive: {process.pid for process in alive if process.session not in spared})
    finally:
        resume_all()


def kill_command(command: int, since_ticks: int, spared: frozenset[int]) -> None:
    """Kills a command with everything that it started, in whatever session it is now.

    `spared` are the kernel and the other commands, with their descendants and sessions. A process whose parent has ended and that is in none of
    their sessions has no known owner: it is killed when it started at `since_ticks` or later.
    """
    suspend_all()
    try:
        _kill_until_none(lambda alive: _of_command(alive, command, since_ticks, spared))
    finally:
        resume_all()


def _of_command(alive: list[WorkerProcess], command: int, since_ticks: int, spared: frozenset[int]) -> set[int]:
    by_pid = {process.pid: process for process in alive}
    spared_sessions = {by_pid[pid].session for pid in spared if pid in by_pid} | spared

    def is_meant(process: WorkerProcess) -> bool:
        ancestor: WorkerProcess | None = process
        oldest = process
        # No more steps than processes: a number may be used again while the list is read.
        for _ in alive:
            if ancestor is None:
                break
            if command in (ancestor.pid, ancestor.session):
                return True
            oldest, ancestor = ancestor, by_pid.get(ancestor.parent)
        is_spared = process.session in spared_sessions or oldest.session in spared_sessions
        return not is_spared and oldest.started >= since_ticks

    return {process.pid for process in alive if is_meant(process)}


def _kill_until_none(meant: Callable[[list[WorkerProcess]], set[int]]) -> None:
    killed: set[int] = set()
    for _ in range(_MAX_KILL_SCANS):
        found = meant(list(worker_processes())) - killed
        if not found:
            return
        for pid in found:
            send(pid, signal.SIGKILL)
        killed |= found


def worker_processes() -> Iterator[WorkerProcess]:
    """Each live worker process. Names are hostile text: parsing starts after the closing bracket."""
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
                yield WorkerProcess(int(name), int(fields[19]), int(fields[3]), int(fields[1]))
        except (OSError, IndexError, ValueError):
            continue


def suspend_all() -> None:
    """Stops every process of the worker in one atomic step."""
    _signal_all(signal.SIGSTOP)


def resume_all() -> None:
    _signal_all(signal.SIGCONT)


def set_idle_scheduling() -> None:
    """Puts every process of the worker and its future children into SCHED_IDLE, irreversibly. Threads other than a process's first keep their class."""
    _for_each(lambda pid: os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0)))


def set_affinity(processors: list[int]) -> None:
    """Moves every process of the worker to these processors. Threads other than a process's first stay; code can move its own processes again."""
    _for_each(lambda pid: os.sched_setaffinity(pid, processors))


def _for_each(act: Callable[[int], None]) -> None:
    """Calls `act` with every process id but the supervisor's. It has the worker's rights only, so it fails for processes that are not the worker's."""
    own = os.getpid()
    with credentials():
        for name in os.listdir("/proc"):
            if name.isdigit() and int(name) != own:
                with contextlib.suppress(OSError):
                    act(int(name))


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
        return _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()[0] == b"R"
    except (OSError, IndexError):
        return False


def peak_memory_bytes(pid: int) -> int | None:
    """The process's high-water mark since its last reset. User code can forge it, so callers bound it."""
    try:
        status = _read(f"/proc/{pid}/status")
        return int(status.partition(b"\nVmHWM:")[2].split(None, 1)[0]) * 1024
    except (OSError, ValueError, IndexError):
        return None


def _read(path: str) -> bytes:
    """A file of /proc below 4 KiB, without the buffers of a file object: they cost more than the file."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(fd, 4096)
    finally:
        os.close(fd)
