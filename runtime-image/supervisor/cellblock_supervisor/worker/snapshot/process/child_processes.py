"""Programs and forked processes that code has left running. They end with the sandbox, so a snapshot names them with their command.

Names and commands of processes are text of user code: they are cut, and only printable characters remain.
"""

import contextlib
import os
from collections.abc import Iterator
from typing import NamedTuple

_MAX_COMMAND_BYTES = 200
# Helpers of libraries, which start them again when they are needed.
_OF_LIBRARIES = ("multiprocessing.resource_tracker", "multiprocessing.forkserver", "joblib.externals.loky", "loky.backend", "/opt/cellblock/plotly/render.mjs")


class _Process(NamedTuple):
    pid: int
    parent: int
    command: str


def running(sessions: frozenset[int]) -> Iterator[tuple[str, str]]:
    """Descendants of the kernel and of its language sessions, and processes whose parent has ended. The sessions themselves are named elsewhere."""
    processes = {process.pid: process for process in _processes()}
    own = os.getpid()
    own_command = processes[own].command if own in processes else ""
    for process in processes.values():
        if process.pid == own or process.pid in sessions or _is_of_command(process, processes):
            continue
        if any(name in process.command for name in _OF_LIBRARIES):
            continue
        command = "a process forked by Python" if process.command == own_command else process.command
        yield f"process {process.pid}", f"A running program cannot be saved. Start it again: {command}"


def _is_of_command(process: _Process, processes: dict[int, _Process]) -> bool:
    """Commands run beside the kernel, as children of its parent."""
    ancestor: _Process | None = process
    for _ in processes:
        if ancestor is None or ancestor.pid == os.getpid():
            return False
        if ancestor.parent == os.getppid():
            return True
        ancestor = processes.get(ancestor.parent)
    return False


def _processes() -> Iterator[_Process]:
    """Live processes of the worker."""
    for name in os.listdir("/proc"):
        # A process may end meanwhile.
        with contextlib.suppress(OSError, IndexError, ValueError):
            if name.isdigit() and _uid(name) == os.getuid():
                with open(f"/proc/{name}/stat", "rb") as file:
                    # The name in brackets may contain anything.
                    before, _, after = file.read().rpartition(b")")
                fields = after.split()
                if fields[0] not in (b"Z", b"X"):
                    yield _Process(int(name), int(fields[1]), _command(name) or _printable(before.partition(b"(")[2]))


def _uid(pid: str) -> int:
    with open(f"/proc/{pid}/status", "rb") as file:
        return next((int(line.split()[1]) for line in file if line.startswith(b"Uid:")), -1)


def _command(pid: str) -> str:
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        return _printable(file.read(_MAX_COMMAND_BYTES).replace(b"\0", b" "))


def _printable(text: bytes) -> str:
    return "".join(character for character in text.decode("utf-8", "replace") if character.isprintable()).strip()
