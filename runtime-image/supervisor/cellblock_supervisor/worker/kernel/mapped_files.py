"""Files that code maps into memory for writing, as numpy.memmap does.

tmpfs does not update the times of a file that is written through a mapping, so the file would seem unchanged. After each cell its ctime is
updated, so that the supervisor reads it again; its mtime stays. Mappings of other programs are not detected.
"""

# Bound here, so that user code that replaces them does not break this module.
from io import open as open_text
from os import readlink, stat, utime

_ACCESS_DEFAULT, _ACCESS_WRITE = 0, 2


class MappedFiles:
    def __init__(self, folder: str) -> None:
        self._folder = folder.rstrip("/") + "/"
        self._paths: set[str] = set()

    def note(self, fd: int, _length: int, access: int, *_rest: object) -> None:
        """Takes the arguments of Python's audit event `mmap.__new__`. Never raises: the mapping must not fail for this."""
        if fd < 0 or access not in (_ACCESS_DEFAULT, _ACCESS_WRITE):
            return
        try:
            path = readlink(f"/proc/self/fd/{fd}")
        except OSError:
            return
        if path.startswith(self._folder):
            self._paths.add(path)

    def touch(self) -> None:
        """Called after a cell. A file that is no longer mapped is touched one last time and forgotten."""
        if not self._paths:
            return
        mapped = _own_mapped()
        for path in tuple(self._paths):
            try:
                status = stat(path)
                utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
            except OSError:
                self._paths.discard(path)
            if path not in mapped:
                self._paths.discard(path)


def _own_mapped() -> set[str]:
    try:
        with open_text("/proc/self/maps", encoding="utf-8", errors="replace") as file:
            return {line[line.find("/") : -1] for line in file}
    except OSError:
        return set()
