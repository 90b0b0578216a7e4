"""Packages that code has installed, one file after another, before the variables that need them. No archive of them is ever in memory."""

import contextlib
import json
import os
import stat
import struct
from collections.abc import Iterator

from ...config import PACKAGES_DIR
from ..channel.channel import Channel
from .frames import send_frame_head
from .losses import Lost

WHAT = "installed packages"
# The folder for temporary files, which holds them, has about as many inodes.
_MAX_FILES = 50_000
_CHUNK_BYTES = 1024 * 1024
_HEAD = struct.Struct("<I")


class InstalledPackages:
    """What is there when a snapshot begins. All files are kept, or none."""

    def __init__(self, max_bytes: int, lost: Lost, folder: str = PACKAGES_DIR) -> None:
        self._folder = folder
        self._files = list(_files_in(folder))
        size = sum(status.st_size for _, status in self._files)
        if size > max_bytes or len(self._files) > _MAX_FILES:
            lost.append({"what": WHAT, "reason": f"More than {max_bytes} bytes or {_MAX_FILES} files of packages are not kept. Run pip install again."})
            self._files = []
        self.size = sum(status.st_size for _, status in self._files)

    def send(self, channel: Channel) -> None:
        for path, status in self._files:
            # A file may vanish meanwhile.
            with contextlib.suppress(OSError):
                self._send_file(channel, path, status)

    def _send_file(self, channel: Channel, path: str, status: os.stat_result) -> None:
        entry = {"path": os.path.relpath(path, self._folder), "mode": stat.S_IMODE(status.st_mode)}
        with open(path, "rb", buffering=0) as file:
            size = os.fstat(file.fileno()).st_size
            head = json.dumps(entry).encode()
            send_frame_head(channel, b"F", _HEAD.size + len(head) + size)
            channel.send_bulk(_HEAD.pack(len(head)) + head)
            while size > 0:
                # One that shrinks meanwhile is filled up: the length of the frame has been sent.
                chunk = file.read(min(size, _CHUNK_BYTES)) or bytes(min(size, _CHUNK_BYTES))
                channel.send_bulk(chunk)
                size -= len(chunk)


class PackageRestorer:
    """Writes the files of a snapshot. The first failure is named, and the other files are written."""

    def __init__(self, lost: Lost, folder: str = PACKAGES_DIR) -> None:
        self._lost = lost
        self._folder = folder
        self._has_failed = False

    def add(self, body: bytearray) -> None:
        try:
            (length,) = _HEAD.unpack_from(body)
            start = _HEAD.size + length
            entry = json.loads(body[_HEAD.size : start])
            path = os.path.join(self._folder, entry["path"])
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb", buffering=0) as file:
                content = memoryview(body)[start:]
                while content:
                    content = content[file.write(content) :]
            os.chmod(path, entry["mode"])
        except (OSError, ValueError, KeyError, TypeError, struct.error) as error:
            if not self._has_failed:
                self._lost.append({"what": WHAT, "reason": f"They are incomplete: {error}. Run pip install again."[:300]})
            self._has_failed = True


def _files_in(top: str) -> Iterator[tuple[str, os.stat_result]]:
    for path, _, files in os.walk(top):
        for name in files:
            whole = os.path.join(path, name)
            with contextlib.suppress(OSError):
                status = os.lstat(whole)
                if stat.S_ISREG(status.st_mode):
                    yield whole, status
