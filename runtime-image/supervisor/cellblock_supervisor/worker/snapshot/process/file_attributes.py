"""Modes, times, empty folders and symbolic links in the folders of the worker: the store of files keeps contents only.

Two parts of a snapshot: folders and links are made before the variables, which may refer to them; modes and times are set last.
"""

import contextlib
import itertools
import os
import stat
from collections.abc import Iterator
from typing import NamedTuple

from ....config import DATA_DIR, HOME_DIR, PACKAGES_DIR
from .temporary_files import OWN_ENTRIES

_FOLDERS = (DATA_DIR, HOME_DIR, "/tmp")
_SKIPPED = OWN_ENTRIES | {PACKAGES_DIR}
_MAX_VISITED = 50_000
MAX_KEPT = 10_000
MAX_BYTES = 2 * 1024 * 1024
# Size of the other fields of an entry.
_ENTRY_BYTES = 32
_MAX_NAMED = 20
# Mode of a file whose content alone is restored.
_DEFAULT_MODE = 0o644


class Link(NamedTuple):
    path: str
    target: str


class Attributes(NamedTuple):
    """`size` of a file, None of a folder."""

    path: str
    mode: int
    modified_ns: int
    size: int | None

    @property
    def is_default(self) -> bool:
        return self.size is not None and self.mode == _DEFAULT_MODE


class FileAttributes:
    """What is read from the folders once for both parts. A folder comes before its content."""

    def __init__(self, lost: list[dict[str, str]], folders: tuple[str, ...] = _FOLDERS) -> None:
        self._links: list[Link] = []
        self._attributes: list[Attributes] = []
        found = list(itertools.islice((entry for folder in folders for entry in _entries_in(folder)), _MAX_VISITED + 1))
        if len(found) > _MAX_VISITED:
            del found[_MAX_VISITED:]
            lost.append({"what": "file attributes", "reason": f"Only the first {_MAX_VISITED} files, folders and links were examined."})
        refused = self._keep(found)
        for entry in refused[:_MAX_NAMED]:
            reason = f"Modes, times, empty folders and links of at most {MAX_KEPT} entries and {MAX_BYTES} bytes are kept."
            lost.append({"what": f"{_kind(entry)} {entry.path}", "reason": reason})
        if len(refused) > _MAX_NAMED:
            lost.append({"what": "file attributes", "reason": f"Those of {len(refused) - _MAX_NAMED} more entries are not kept."})

    def folders_and_links(self) -> tuple[list[str], list[tuple[str, str]]] | None:
        folders = [entry.path for entry in self._attributes if entry.size is None]
        return (folders, [tuple(link) for link in self._links]) if folders or self._links else None

    def modes_and_times(self) -> list[tuple[str, int, int, int | None]] | None:
        return [tuple(entry) for entry in self._attributes] or None

    def _keep(self, found: list[Link | Attributes]) -> list[Link | Attributes]:
        """Returns those beyond the limits. Files of which only the time would be kept are the first to be left out, without a name."""
        count = size = 0
        refused, left_out = [], set()
        for index, entry in sorted(enumerate(found), key=lambda item: isinstance(item[1], Attributes) and item[1].is_default):
            size += sum(len(os.fsencode(text)) for text in entry if isinstance(text, str)) + _ENTRY_BYTES
            count += 1
            if count > MAX_KEPT or size > MAX_BYTES:
                left_out.add(index)
                if isinstance(entry, Link) or not entry.is_default:
                    refused.append(entry)
        for index, entry in enumerate(found):
            if index not in left_out:
                (self._links if isinstance(entry, Link) else self._attributes).append(entry)  # type: ignore[arg-type]
        return refused


def make_folders_and_links(parts: tuple[list[str], list[tuple[str, str]]]) -> None:
    folders, links = parts
    failed = _Failures()
    for folder in folders:
        with failed.of(folder):
            os.makedirs(folder, exist_ok=True)
    for path, target in links:
        with failed.of(path):
            if not os.path.lexists(path):
                os.makedirs(os.path.dirname(path), exist_ok=True)
                os.symlink(target, path)
    failed.report()


def set_modes_and_times(entries: list[tuple[str, int, int, int | None]]) -> None:
    """A file that was replaced by one of another size keeps its own time."""
    failed = _Failures()
    for path, mode, modified_ns, size in reversed(entries):
        with failed.of(path):
            status = os.lstat(path)
            if not (stat.S_ISREG(status.st_mode) if size is not None else stat.S_ISDIR(status.st_mode)):
                continue
            # A change of a file makes the supervisor read it again.
            if size in (None, status.st_size) and status.st_mtime_ns != modified_ns:
                os.utime(path, ns=(modified_ns, modified_ns))
            if stat.S_IMODE(status.st_mode) != mode:
                os.chmod(path, mode)
    failed.report()


class _Failures:
    def __init__(self) -> None:
        self._paths: list[str] = []

    @contextlib.contextmanager
    def of(self, path: str) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError:
            # Deleted meanwhile, or its content was lost and is named there.
            pass
        except OSError as error:
            self._paths.append(f"{path} ({error.strerror})")

    def report(self) -> None:
        if self._paths:
            raise OSError(f"{len(self._paths)} entries could not be changed: {', '.join(self._paths[:3])}")


def _entries_in(top: str) -> Iterator[Link | Attributes]:
    for path, folders, files in os.walk(top):
        folders[:] = [name for name in folders if os.path.join(path, name) not in _SKIPPED]
        for name in (*folders, *files):
            # An entry may vanish meanwhile.
            with contextlib.suppress(OSError):
                entry = _entry(os.path.join(path, name))
                if entry is not None:
                    yield entry


def _entry(path: str) -> Link | Attributes | None:
    """None for other kinds of entries and those that the sandbox made."""
    status = os.lstat(path)
    if status.st_uid != os.geteuid():
        return None
    if stat.S_ISLNK(status.st_mode):
        return Link(path, os.readlink(path))
    if stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode):
        size = status.st_size if stat.S_ISREG(status.st_mode) else None
        return Attributes(path, stat.S_IMODE(status.st_mode), status.st_mtime_ns, size)
    return None


def _kind(entry: Link | Attributes) -> str:
    if isinstance(entry, Link):
        return "link"
    return "folder" if entry.size is None else "file"
