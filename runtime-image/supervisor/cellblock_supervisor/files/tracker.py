"""Remembers the content of /mnt/data, so that an execution can report what it created, modified and deleted."""

import asyncio
import functools
import itertools
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from ..reserved_buffer import reserved_buffer
from . import walk
from .client import FileError, FilesClient

_CHUNK_BYTES = 1024 * 1024
# Holes of sparse files take time to hash and no space: those of all files of one scan together.
MAX_HOLE_BYTES = 512 * 1024 * 1024
# For all hashes of one scan. The data alone is bounded by the capacity of the file system.
MAX_HASH_SECONDS = 60.0
# The reasons to skip an entry that is there, or may be.
_UNREAD = ("unreadable", "too_large", "timed_out", walk.TOO_MANY)


@dataclass(frozen=True)
class KnownFile:
    """`stamp` is inode, size, mtime and ctime in ns. While it is unchanged, the hash is taken as valid."""

    stamp: tuple[int, int, int, int]
    bytes: int
    sha256: str


@dataclass
class Changes:
    files: list[dict[str, object]] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    # Entries that no earlier execution has reported.
    skipped: list[dict[str, str]] = field(default_factory=list)
    # Why some entries are not named: `too_many`, `too_many_skipped`.
    bounds: list[str] = field(default_factory=list)


class FileTracker:
    def __init__(self, client: FilesClient, open_folder: Callable[[], int]) -> None:
        """`open_folder()` returns a descriptor of /mnt/data, which stays open."""
        self._client = client
        self._open_folder = functools.cache(open_folder)
        self._known: dict[str, KnownFile] = {}
        self._reported_skipped: frozenset[tuple[str, str]] = frozenset()
        self._buffer = reserved_buffer(_CHUNK_BYTES)
        self._lock = asyncio.Lock()

    async def changes(self) -> Changes:
        """Compares with the last scan and remembers this one. Files with an unchanged content are not reported."""
        async with self._lock:
            before, reported = self._known, self._reported_skipped
            now, skipped = await self._scan()
            self._known = {**_unreadable_files(before, now, skipped), **now}
            changes = _new_skips(skipped, reported)
            unnamed = {(entry["path"], entry["reason"]) for entry in changes.skipped[walk.MAX_SKIPPED :]}
            self._reported_skipped = frozenset((entry["path"], entry["reason"]) for entry in skipped) - unnamed
        if unnamed:
            del changes.skipped[walk.MAX_SKIPPED :]
            changes.bounds.append(walk.TOO_MANY_SKIPPED)
        for path, file in now.items():
            was = before.get(path)
            if was is None or (was.stamp != file.stamp and was.sha256 != file.sha256):
                changes.files.append({**describe(path, file), "change": "created" if was is None else "modified"})
        changes.deleted = [path for path in before if path not in self._known]
        return changes

    async def listing(self) -> tuple[list[dict[str, object]], list[dict[str, str]]]:
        """All files. This does not count as a report of changes."""
        async with self._lock:
            now, skipped = await self._scan()
            # Keeps hashes of known files only: new ones must still be reported as created.
            self._known.update({path: file for path, file in now.items() if self._same_content(path, file)})
        return [describe(path, file) for path, file in now.items()], skipped

    async def put(self, path: str, stamp: list[int], size: int, sha256: str) -> None:
        async with self._lock:
            self._known[path] = KnownFile((stamp[0], stamp[1], stamp[2], stamp[3]), size, sha256)

    async def removed(self, path: str) -> None:
        async with self._lock:
            self._known.pop(path, None)

    def _is_empty(self) -> bool:
        try:
            with os.scandir(self._open_folder()) as entries:
                return next(entries, None) is None
        except OSError:
            return False

    def _same_content(self, path: str, file: KnownFile) -> bool:
        was = self._known.get(path)
        return was is not None and was.sha256 == file.sha256

    async def _scan(self) -> tuple[dict[str, KnownFile], list[dict[str, str]]]:
        # Most code has no files, and the answer of the helper takes longer than the code.
        if self._is_empty():
            return {}, []
        try:
            found = await self._client.scan()
        except FileError:
            return self._known, [{"path": ".", "reason": "unreadable"}]
        skipped = [{"path": str(path), "reason": str(reason)} for path, reason in found["skipped"]]
        now: dict[str, KnownFile] = {}
        holes_left, end = MAX_HOLE_BYTES, time.monotonic() + MAX_HASH_SECONDS
        for path, *numbers in found["files"]:
            stamp = (int(numbers[0]), int(numbers[1]), int(numbers[2]), int(numbers[3]))  # type: ignore[call-overload]
            was = self._known.get(str(path))
            if was is not None and was.stamp == stamp:
                now[str(path)] = was
                continue
            holes = max(0, stamp[1] - int(numbers[4]))  # type: ignore[call-overload]
            if holes > holes_left:
                skipped.append({"path": str(path), "reason": "too_large"})
                continue
            holes_left -= holes
            try:
                size, sha256 = await self._hash(str(path), stamp[1], end)
            except FileError as error:
                if error.code != "ENOENT":
                    reason = error.reason if error.code == "refused" else "unreadable"
                    skipped.append({"path": str(path), "reason": reason})
                continue
            now[str(path)] = KnownFile(stamp, size, sha256)
        return now, skipped

    async def _hash(self, path: str, limit: int, end: float) -> tuple[int, str]:
        """Size and SHA-256 of the bytes read. A file that grows meanwhile is read up to its earlier size. Raises FileError at the time `end`."""
        # It loads OpenSSL, which an idle sandbox does without.
        import hashlib

        fd = await self._client.open(path)
        digest, total = hashlib.sha256(), 0
        try:
            while total < limit:
                if time.monotonic() > end:
                    raise FileError("refused", "timed_out")
                count = os.readv(fd, [self._buffer[: min(_CHUNK_BYTES, limit - total)]])
                if count == 0:
                    break
                digest.update(self._buffer[:count])
                total += count
                if count == _CHUNK_BYTES:
                    await asyncio.sleep(0)
        except OSError as error:
            raise FileError("EIO", "unreadable") from error
        finally:
            os.close(fd)
        return total, digest.hexdigest()


def _unreadable_files(
    before: dict[str, KnownFile], now: dict[str, KnownFile], skipped: list[dict[str, str]]
) -> dict[str, KnownFile]:
    """Known files that could not be read, or are in such folders: they may still exist. Bounded, since hostile code may hide any number."""
    places = {entry["path"] for entry in skipped if entry["reason"] in _UNREAD}
    if not places:
        return {}
    missing = (path for path in before if path not in now)
    hidden = (path for path in missing if "." in places or any(place in places for place in _ancestors(path)))
    return {path: before[path] for path in itertools.islice(hidden, walk.MAX_FILES)}


def _ancestors(path: str) -> Iterator[str]:
    """The path itself and every folder above it."""
    while path:
        yield path
        path = path.rpartition("/")[0]


def _new_skips(skipped: list[dict[str, str]], reported: frozenset[tuple[str, str]]) -> Changes:
    """Entries that are skipped for the first time. Past the bound on files each scan may miss others, so that is reported each time."""
    changes = Changes()
    for entry in skipped:
        is_new = (entry["path"], entry["reason"]) not in reported
        if entry["reason"] == walk.TOO_MANY or (entry["reason"] == walk.TOO_MANY_SKIPPED and is_new):
            changes.bounds.append(entry["reason"])
        elif entry["reason"] != walk.TOO_MANY_SKIPPED and is_new:
            changes.skipped.append(entry)
    return changes


def describe(path: str, file: KnownFile) -> dict[str, object]:
    return {"path": path, "bytes": file.bytes, "mtime": file.stamp[2] // 1_000_000, "sha256": file.sha256}
