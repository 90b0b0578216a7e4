"""The operation `watch`: one change a line, until the program is ended. It uses inotify(7).

A line on standard input is answered by `{"op": "synced", "id"}` after every change before it.
"""

import contextlib
import ctypes
import os
import select
import struct
from collections.abc import Callable, Iterator

from file_entries import MAX_DEPTH, UPLOAD_PREFIX, Json, absolute, entry_of, text_of, walk

MAX_FOLDERS = 8_000
_READ_BYTES = 64 * 1024
_HEADER = struct.Struct("iIII")
_MODIFY, _ATTRIB, _MOVED_FROM, _MOVED_TO, _CREATE, _DELETE = 0x2, 0x4, 0x40, 0x80, 0x100, 0x200
_EVENTS = _MODIFY | _ATTRIB | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE
_ONLYDIR, _ISDIR = 0x01000000, 0x40000000

_libc = ctypes.CDLL(None, use_errno=True)

# Path, mask, cookie: a move has one cookie in both of its events.
_Event = tuple[str, int, int]


class _Folders:
    """The watched folders by inotify's numbers."""

    def __init__(self, root: str, is_recursive: bool) -> None:
        self.fd = _checked(_libc.inotify_init1(os.O_CLOEXEC))
        self._paths: dict[int, str] = {}
        self._root = root
        self.is_recursive = is_recursive
        self.add(root)
        for path in walk(root, MAX_DEPTH) if is_recursive else ():
            if _is_folder(path):
                self.add(path)

    def add(self, folder: str) -> bool:
        """False for a folder that is beyond the limits or has gone. Raises OSError for the root."""
        if len(self._paths) >= MAX_FOLDERS:
            return False
        number = _libc.inotify_add_watch(self.fd, os.fsencode(folder), _EVENTS | _ONLYDIR)
        if number < 0:
            if folder == self._root:
                _checked(number)
            return False
        self._paths[number] = folder
        return True

    def read(self) -> Iterator[_Event]:
        data = os.read(self.fd, _READ_BYTES)
        at = 0
        while at < len(data):
            number, mask, cookie, length = _HEADER.unpack_from(data, at)
            name = os.fsdecode(data[at + _HEADER.size : at + _HEADER.size + length].rstrip(b"\0"))
            at += _HEADER.size + length
            folder = self._paths.get(number)
            # A change of a watched folder itself has no name: its parent reports it.
            if folder is not None and name:
                yield os.path.join(folder, name), mask, cookie


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


class _Watch:
    def __init__(self, request: Json, report: Callable[[Json], None]) -> None:
        self._root = absolute(request["path"])
        # Reports a missing folder, a file in its place and a closed folder.
        os.listdir(self._root)
        self._with_entry = bool(request.get("with_entry"))
        self._attributes = str(request.get("attributes") or "")
        self._report = report
        self._folders = _Folders(self._root, bool(request.get("recursive")))
        # An upload replaces a file by a rename: these names tell a changed file from a new one.
        self._known = set(walk(self._root, MAX_DEPTH if self._folders.is_recursive else 1))

    def run(self) -> None:
        """Never returns."""
        self._report({"op": "watching", "path": text_of(self._root)})
        poll = select.poll()
        poll.register(self._folders.fd, select.POLLIN)
        poll.register(0, select.POLLIN)
        while True:
            ready = {fd for fd, _ in poll.poll()}
            if 0 in ready:
                line = os.read(0, _READ_BYTES)
                self._drain()
                for name in line.decode("utf-8", "replace").split():
                    self._report({"op": "synced", "id": name[:100]})
                if not line:
                    poll.unregister(0)
            else:
                self._drain()

    def _drain(self) -> None:
        poll = select.poll()
        poll.register(self._folders.fd, select.POLLIN)
        while poll.poll(0):
            # Many writes of one program are one change.
            last: tuple[str, str] | None = None
            moved: dict[int, str] = {}
            for path, mask, cookie in self._folders.read():
                for op, changed, source in self._changes(path, mask, cookie, moved):
                    if (op, changed) == last:
                        continue
                    last = (op, changed)
                    self._tell(op, changed, source)
            for path in moved.values():
                self._known.discard(path)
                if not _is_upload(path):
                    self._tell("moved_away", path, None)

    def _changes(self, path: str, mask: int, cookie: int, moved: dict[int, str]) -> Iterator[tuple[str, str, str | None]]:
        if mask & _MOVED_FROM:
            moved[cookie] = path
            return
        if _is_upload(path):
            return
        if mask & _MOVED_TO:
            source = moved.pop(cookie, None)
            if source is not None and not _is_upload(source):
                self._known.discard(source)
                yield "rename", path, source
            else:
                # An upload makes a file beside and moves it, as one that creates the file, sets its mode and writes it.
                if path not in self._known:
                    yield "create", path, None
                    yield "chmod", path, None
                yield "write", path, None
            self._known.add(path)
        elif mask & _CREATE:
            self._known.add(path)
            yield "create", path, None
        elif mask & _DELETE:
            self._known.discard(path)
            yield "remove", path, None
        elif mask & _MODIFY:
            yield "write", path, None
        elif mask & _ATTRIB:
            yield "chmod", path, None
        if mask & _ISDIR and mask & (_CREATE | _MOVED_TO) and self._folders.is_recursive:
            yield from self._new_folder(path)

    def _new_folder(self, folder: str) -> Iterator[tuple[str, str, str | None]]:
        """What a program made in a new folder before the folder was watched."""
        if not self._folders.add(folder):
            return
        for path in walk(folder, MAX_DEPTH):
            is_folder = _is_folder(path)
            if is_folder:
                self._folders.add(path)
            if path not in self._known:
                self._known.add(path)
                yield "create", path, None
                if not is_folder:
                    yield "write", path, None

    def _tell(self, op: str, path: str, source: str | None) -> None:
        change: Json = {"op": op, "path": text_of(path)}
        if source is not None:
            change["from"] = text_of(source)
        if self._with_entry and op not in ("remove", "moved_away"):
            # It may have gone meanwhile.
            with contextlib.suppress(OSError):
                change["entry"] = entry_of(path, self._attributes)
        self._report(change)


def _is_upload(path: str) -> bool:
    return os.path.basename(path).startswith(UPLOAD_PREFIX)


def _is_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)


def watch(request: Json, report: Callable[[Json], None]) -> None:
    """Never returns."""
    _Watch(request, report).run()
