"""File operations by directory descriptor: one segment at a time, no link followed in any of them. Runs in the helper."""

import contextlib
import os
import stat
import sys
from collections.abc import Iterator
from json.encoder import encode_basestring

from ..config import WORKER_UID
from . import paths

MAX_FILES = 10_000
MAX_ENTRIES = 30_000
MAX_SKIPPED = 200
# Size of all paths together, as JSON: control characters take six bytes there.
MAX_LISTED_BYTES = 4 * 1024 * 1024
# Reasons of the entry `.`: not every entry was examined; not every skipped entry is named.
TOO_MANY, TOO_MANY_SKIPPED = "too_many", "too_many_skipped"

# Caches of Python, pytest and Jupyter are no results.
CACHE_FOLDERS = frozenset(("__pycache__", ".pytest_cache", ".ipynb_checkpoints"))

# Files that SQLite keeps beside a database while it is open.
_SQLITE_FILES = ("-journal", "-wal", "-shm")
# The start of a `-shm` file: the version of its format.
_WAL_INDEX = (3007000).to_bytes(4, sys.byteorder)

# The unit of st_blocks.
_BLOCK_BYTES = 512
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: opening a FIFO must never wait for its other end.
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class NotAFile(Exception):
    """The path does not name a regular file of the worker. The message is the protocol's reason."""


def open_parent(root: int, names: list[str], create: bool) -> int:
    """A descriptor of the folder of the last segment. Raises OSError when a segment is a link or not a folder."""
    parent = os.dup(root)
    for name in names[:-1]:
        try:
            if create:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(name, 0o755, dir_fd=parent)
            child = os.open(name, _DIRECTORY, dir_fd=parent)
        finally:
            os.close(parent)
        parent = child
    return parent


def open_file(root: int, names: list[str]) -> int:
    """A readable descriptor of a regular file; raises FileNotFoundError, NotAFile or OSError."""
    parent = open_parent(root, names, create=False)
    try:
        before = os.stat(names[-1], dir_fd=parent, follow_symlinks=False)
        reason = refusal(before)
        if reason is not None:
            raise NotAFile(reason)
        fd = os.open(names[-1], _READ, dir_fd=parent)
    finally:
        os.close(parent)
    reason = refusal(os.fstat(fd))
    if reason is not None:
        os.close(fd)
        raise NotAFile(reason)
    return fd


def refusal(status: os.stat_result) -> str | None:
    """The protocol's reason to refuse a file; None for a regular one. A further name of a file that the worker owns shows nothing that it could not copy."""
    if stat.S_ISLNK(status.st_mode):
        return "symlink"
    if not stat.S_ISREG(status.st_mode):
        return "not_regular"
    return "hardlink" if status.st_nlink > 1 and status.st_uid != WORKER_UID else None


def scan(root: int) -> dict[str, list[list[object]]]:
    """Every file as [path, inode, size, mtime ns, ctime ns, allocated bytes], and every skipped entry as [path, reason]."""
    files: list[list[object]] = []
    skipped: list[list[object]] = []
    visited = listed_bytes = 0
    bounds: list[list[object]] = []
    for path, status, reason in _walk(root, "", 0):
        visited += 1
        listed_bytes += len(encode_basestring(path).encode())
        if len(files) >= MAX_FILES or visited >= MAX_ENTRIES or listed_bytes > MAX_LISTED_BYTES:
            bounds.append([".", TOO_MANY])
            break
        if reason is None and status is not None:
            allocated = status.st_blocks * _BLOCK_BYTES
            files.append([path, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns, allocated])
        elif len(skipped) < MAX_SKIPPED:
            skipped.append([path, reason])
        elif not bounds:
            bounds.append([".", TOO_MANY_SKIPPED])
    return {"files": files, "skipped": [*skipped, *bounds]}


def _walk(folder: int, prefix: str, depth: int) -> Iterator[tuple[str, os.stat_result | None, str | None]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(paths.UPLOAD_PREFIX) or (entry.name in CACHE_FOLDERS and entry.is_dir(follow_symlinks=False)):
                continue
            path = prefix + entry.name
            if depth + 1 > paths.MAX_DEPTH or paths.segments(path) is None:
                yield path.encode(errors="replace").decode()[:200], None, "name"
                continue
            try:
                if not entry.is_dir(follow_symlinks=False):
                    status = entry.stat(follow_symlinks=False)
                    if not (entry.name.endswith(_SQLITE_FILES) and _is_redundant(folder, entry.name, status)):
                        yield path, status, refusal(status)
                    continue
                child = os.open(entry.name, _DIRECTORY, dir_fd=folder)
            except FileNotFoundError:
                continue
            except OSError:
                yield path, None, "unreadable"
                continue
            try:
                yield from _walk(child, path + "/", depth + 1)
            except OSError:
                yield path, None, "unreadable"
            finally:
                os.close(child)


def _is_redundant(folder: int, name: str, status: os.stat_result) -> bool:
    """Whether SQLite would read its database the same way without this file: an index of memory, or a journal that holds no change.

    Every other journal is part of the database. A journal counts from the moment that SQLite writes its first byte, which is zero before.
    """
    if refusal(status) is not None:
        return False
    database, _, kind = name.rpartition("-")
    try:
        os.stat(database, dir_fd=folder, follow_symlinks=False)
        if status.st_size == 0:
            return True
        fd = os.open(name, _READ, dir_fd=folder)
    except OSError:
        return False
    try:
        head = os.read(fd, 4)
    except OSError:
        return False
    finally:
        os.close(fd)
    return (kind == "shm" and head == _WAL_INDEX) or (kind == "journal" and head[:1] == b"\0")
