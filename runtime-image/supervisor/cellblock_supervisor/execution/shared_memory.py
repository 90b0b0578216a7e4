"""Removes System V shared memory, semaphores and message queues of the worker: they outlive every process and keep their memory."""

import ctypes

from ..config import WORKER_UID
from . import worker_processes

_IPC_RMID = 0
_SHM, _SEM, _MSG = "/proc/sysvipc/shm", "/proc/sysvipc/sem", "/proc/sysvipc/msg"


def remove_all() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    found = {name: _ids(name) for name in (_SHM, _SEM, _MSG)}
    if not any(found.values()):
        return
    with worker_processes.credentials():
        for number in found[_SHM]:
            libc.shmctl(number, _IPC_RMID, None)
        for number in found[_SEM]:
            libc.semctl(number, 0, _IPC_RMID)
        for number in found[_MSG]:
            libc.msgctl(number, _IPC_RMID, None)


def _ids(name: str) -> list[int]:
    """Ids of the worker's objects. The file's first line names its columns."""
    try:
        with open(name, encoding="ascii", errors="replace") as file:
            header = file.readline().split()
            rows = [line.split() for line in file]
    except OSError:
        return []
    if "uid" not in header:
        return []
    uid, number = header.index("uid"), 1
    return [int(row[number]) for row in rows if len(row) > uid and row[uid] == str(WORKER_UID)]
