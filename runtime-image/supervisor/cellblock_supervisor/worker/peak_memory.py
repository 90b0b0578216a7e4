"""The kernel process's peak of resident memory, begun afresh for each cell."""

import os


class PeakMemory:
    """Holds the file that resets VmHWM of the process that made it: opened early, since the worker may not open it any more."""

    def __init__(self) -> None:
        self._identity: tuple[int, int] | None = None
        try:
            self._fd = os.open("/proc/self/clear_refs", os.O_WRONLY | os.O_CLOEXEC)
            self._identity = _identity(self._fd)
        except OSError:
            pass

    def reset(self) -> None:
        """So that the peak the supervisor reads belongs to this cell. Does nothing where that is not allowed."""
        try:
            # Code may have closed the descriptor, and its number may be another file's by now.
            if self._identity is not None and _identity(self._fd) == self._identity:
                os.write(self._fd, b"5")
        except OSError:
            pass


def _identity(fd: int) -> tuple[int, int]:
    status = os.fstat(fd)
    return status.st_dev, status.st_ino
