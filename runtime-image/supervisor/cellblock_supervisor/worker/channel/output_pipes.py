"""The pipes behind standard output and error, of which each writer gets an open file description.

O_NONBLOCK belongs to a description, not to a process: Node sets it on its output, and every program that shares the description then loses what a
full pipe does not take. A pipe that is opened again by its path is another description of the same pipe.
"""

import contextlib
import os

OUTPUTS = {1: "stdout", 2: "stderr"}


def another_description(fd: int) -> int:
    """Not inheritable. The same description where the system refuses another one, as gVisor does."""
    try:
        return os.open(f"/proc/self/fd/{fd}", os.O_WRONLY | os.O_CLOEXEC)
    except OSError:
        return os.dup(fd)


class OutputPipes:
    """Those of the kernel. Made before user code runs."""

    def __init__(self) -> None:
        self._kept = {number: os.dup(number) for number in OUTPUTS}

    def renew(self) -> list[str]:
        """Before a cell: programs of earlier cells keep the old descriptions. Returns the names of outputs that earlier code had redirected."""
        redirected = []
        for number, kept in self._kept.items():
            # Code that goes through all descriptors may have closed the kept one.
            with contextlib.suppress(OSError):
                if not _same_file(number, kept):
                    redirected.append(OUTPUTS[number])
                fd = another_description(kept)
                os.set_blocking(fd, True)
                # The number itself, if code had closed it.
                if fd == number:
                    os.set_inheritable(fd, True)
                    continue
                os.dup2(fd, number)
                os.close(fd)
        return redirected


def _same_file(one: int, other: int) -> bool:
    try:
        return os.path.samestat(os.fstat(one), os.fstat(other))
    except OSError:
        return False
