"""Skills: folders of files below /mnt/skills that belong to root, so the worker reads and runs them and cannot change them.

A bundle is one line of JSON that lists the files, then their bytes in that order. It is not an archive: it has no links and no compression.
"""

import json
import os
import re
from collections.abc import AsyncIterator

from .config import SKILLS_DIR
from .files import paths

MAX_INDEX_BYTES = 1024 * 1024
MAX_FILES = 500
MAX_BUNDLE_BYTES = 32 * 1024 * 1024
_FOLDER = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*", re.ASCII)
_INCOMING = ".incoming-"


class BundleError(ValueError):
    """The bundle is malformed. The message says how."""


def is_folder_name(name: str) -> bool:
    return len(name) <= 128 and _FOLDER.fullmatch(name) is not None


def folders(root: str = SKILLS_DIR) -> list[str]:
    try:
        return sorted(name for name in os.listdir(root) if not name.startswith(_INCOMING))
    except FileNotFoundError:
        return []


async def write(folder: str, body: AsyncIterator[bytes], root: str = SKILLS_DIR) -> None:
    """Writes a bundle completely or not at all; a folder that exists stays as it is. Raises BundleError and OSError."""
    reader = _Reader(body)
    files = _read_index(await reader.line(MAX_INDEX_BYTES))
    os.makedirs(root, mode=0o755, exist_ok=True)
    incoming = f"{root}/{_INCOMING}{os.urandom(8).hex()}"
    os.mkdir(incoming, 0o700)
    try:
        for path, size, executable in files:
            await _write_file(incoming, path, size, executable, reader)
        await reader.end()
        os.chmod(incoming, 0o755)
        try:
            os.rename(incoming, f"{root}/{folder}")
        except OSError:
            # Another request wrote the same folder first.
            if not os.path.isdir(f"{root}/{folder}"):
                raise
    finally:
        # It loads the libraries of all archive formats, which an idle sandbox does without.
        import shutil

        shutil.rmtree(incoming, ignore_errors=True)


def _read_index(line: bytes) -> list[tuple[list[str], int, bool]]:
    try:
        index = json.loads(line)
    except (ValueError, RecursionError):
        raise BundleError("the index is not valid JSON") from None
    files = index.get("files") if isinstance(index, dict) and index.get("v") == 1 else None
    if not isinstance(files, list) or len(files) > MAX_FILES:
        raise BundleError("the index must list the files")
    found = [_read_entry(entry) for entry in files]
    if sum(size for _, size, _ in found) > MAX_BUNDLE_BYTES:
        raise BundleError("the files are too large together")
    return found


def _read_entry(entry: object) -> tuple[list[str], int, bool]:
    if not isinstance(entry, dict):
        raise BundleError("every file must be an object")
    path, size = entry.get("path"), entry.get("bytes")
    names = paths.segments(path) if isinstance(path, str) else None
    if names is None or not isinstance(size, int) or isinstance(size, bool) or size < 0:
        raise BundleError("every file must have a relative path and a size")
    return names, size, entry.get("executable") is True


async def _write_file(root: str, names: list[str], size: int, executable: bool, reader: "_Reader") -> None:
    folder = root
    for name in names[:-1]:
        folder = f"{folder}/{name}"
        try:
            os.mkdir(folder, 0o755)
        except FileExistsError:
            continue
        except NotADirectoryError:
            raise BundleError("a folder has the name of a file") from None
        os.chmod(folder, 0o755)
    # The folder is new and no worker can write to it, so nothing is there but what this bundle has.
    try:
        fd = os.open(f"{folder}/{names[-1]}", os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except (FileExistsError, NotADirectoryError):
        raise BundleError("a name is listed twice") from None
    try:
        async for part in reader.read(size):
            view = memoryview(part)
            while view:
                view = view[os.write(fd, view) :]
        os.fchmod(fd, 0o755 if executable else 0o644)
    finally:
        os.close(fd)


class _Reader:
    def __init__(self, body: AsyncIterator[bytes]) -> None:
        self._body = body
        self._rest = b""

    async def line(self, limit: int) -> bytes:
        parts, size = [], 0
        while True:
            part = await self._next()
            if part is None:
                raise BundleError("the bundle ends before its index does")
            head, separator, rest = part.partition(b"\n")
            parts.append(head)
            size += len(head)
            if size > limit:
                raise BundleError("the index is too large")
            if separator:
                self._rest = rest
                return b"".join(parts)

    async def read(self, size: int) -> AsyncIterator[bytes]:
        while size > 0:
            part = await self._next()
            if part is None:
                raise BundleError("the bundle is shorter than its index says")
            yield part[:size]
            self._rest = part[size:]
            size -= min(size, len(part))

    async def end(self) -> None:
        if await self._next() is not None:
            raise BundleError("the bundle is longer than its index says")

    async def _next(self) -> bytes | None:
        """What is left of the last part, else the next part that is not empty; None at the end."""
        rest, self._rest = self._rest, b""
        while not rest:
            try:
                rest = bytes(await anext(self._body))
            except StopAsyncIteration:
                return None
        return rest
