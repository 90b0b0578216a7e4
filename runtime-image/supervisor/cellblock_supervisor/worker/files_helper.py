"""The files helper: a process that accesses files with the worker's rights, for the supervisor. The zygote forks it, so that both share memory.

Only its file-system UID is the worker's: a fault here opens nothing that user code could not open itself. Its other UIDs are separate,
so the worker can neither stop, slow, trace nor kill it. Files, and connections to the worker's sockets, travel to the supervisor as descriptors.
"""

import ctypes
import errno
import json
import os
import signal
import socket
import struct

from .. import packets
from ..config import DATA_DIR, HELPER_UID, IS_GVISOR, WORKER_GID, WORKER_UID
from ..files import paths, walk
from .channel import descriptors
from .isolation import loopback, seccomp
from .isolation.drop_privileges import hide_memory

_PR_SET_PDEATHSIG, _PR_SET_KEEPCAPS = 1, 8
_CAP_SETUID, _CAPABILITY_VERSION_3 = 7, 0x20080522
MAX_UPLOADS = 64


class Helper:
    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._root = os.open(DATA_DIR, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        # By token: the folder's descriptor, the temporary name, the final name, the inode.
        self._uploads: dict[str, tuple[int, str, str, int]] = {}
        self._number = 0

    def serve(self) -> None:
        actions = {
            "scan": self._scan,
            "open": self._open,
            "create": self._create,
            "commit": self._commit,
            "abort": self._abort,
            "remove": self._remove,
            "connect": self._connect,
        }
        while True:
            data = self._control.recv(64 * 1024)
            if not data:
                os._exit(0)
            request = json.loads(data)
            fd = -1
            try:
                reply, fd = actions[request["op"]](request)
            except walk.NotAFile as error:
                reply = {"error": "refused", "reason": str(error)}
            except OSError as error:
                reply = {"error": errno.errorcode.get(error.errno or 0, "EIO"), "reason": error.strerror or "failed"}
            self._answer(reply, fd)

    def _answer(self, reply: dict[str, object], fd: int) -> None:
        self._number += 1
        for packet in packets.fragments(self._number, json.dumps(reply, separators=(",", ":"), ensure_ascii=False).encode()):
            if fd >= 0:
                descriptors.send(self._control, packet, fd)
                os.close(fd)
                fd = -1
            else:
                self._control.send(packet)

    def _scan(self, _request: dict[str, str]) -> tuple[dict[str, object], int]:
        return {**walk.scan(self._root)}, -1

    def _open(self, request: dict[str, str]) -> tuple[dict[str, object], int]:
        return {}, walk.open_file(self._root, _names(request))

    def _create(self, request: dict[str, str]) -> tuple[dict[str, object], int]:
        """A new, empty, writable file beside its destination; the token finishes or aborts it."""
        if len(self._uploads) >= MAX_UPLOADS:
            raise OSError(errno.EAGAIN, "too many uploads at once")
        names = _names(request)
        parent = walk.open_parent(self._root, names, create=True)
        token = os.urandom(8).hex()
        temporary = paths.UPLOAD_PREFIX + token
        try:
            fd = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644, dir_fd=parent)
        except OSError:
            os.close(parent)
            raise
        self._uploads[token] = (parent, temporary, names[-1], os.fstat(fd).st_ino)
        return {"token": token}, fd

    def _commit(self, request: dict[str, str]) -> tuple[dict[str, object], int]:
        """Moves the upload to its path in one step; refuses when user code replaced the file meanwhile."""
        upload = self._uploads.get(request["token"])
        if upload is None:
            raise OSError(errno.EINVAL, "there is no such upload to finish")
        parent, temporary, name, inode = upload
        status = os.stat(temporary, dir_fd=parent, follow_symlinks=False)
        if status.st_ino != inode or walk.refusal(status) is not None:
            raise walk.NotAFile("not_regular")
        os.rename(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
        status = os.stat(name, dir_fd=parent, follow_symlinks=False)
        os.close(parent)
        del self._uploads[request["token"]]
        return {"file": [status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns]}, -1

    def _abort(self, request: dict[str, str]) -> tuple[dict[str, object], int]:
        upload = self._uploads.pop(request["token"], None)
        if upload is not None:
            parent, temporary, _, _ = upload
            try:
                os.unlink(temporary, dir_fd=parent)
            except OSError:
                pass
            os.close(parent)
        return {}, -1

    def _remove(self, request: dict[str, str]) -> tuple[dict[str, object], int]:
        names = _names(request)
        parent = walk.open_parent(self._root, names, create=False)
        try:
            os.unlink(names[-1], dir_fd=parent)
        finally:
            os.close(parent)
        return {}, -1

    def _connect(self, request: dict[str, str]) -> tuple[dict[str, object], int]:
        return {}, loopback.connect(int(request["port"]))


def _names(request: dict[str, str]) -> list[str]:
    names = paths.segments(request["path"])
    if names is None:
        raise OSError(errno.EINVAL, "not a path below the data folder")
    return names


def _become_helper() -> None:
    os.setgroups([])
    os.setresgid(WORKER_GID, WORKER_GID, WORKER_GID)
    libc = ctypes.CDLL(None, use_errno=True)
    # A change of UIDs changes the file-system UID too, so the capability is kept for one more call.
    libc.prctl(_PR_SET_KEEPCAPS, 1, 0, 0, 0)
    os.setresuid(HELPER_UID, HELPER_UID, HELPER_UID)
    _set_capabilities(libc, 1 << _CAP_SETUID)
    if IS_GVISOR:
        # It has no setfsuid(2). With this effective UID the worker can slow the helper, but neither stop nor kill it.
        os.setresuid(HELPER_UID, WORKER_UID, HELPER_UID)
    else:
        libc.setfsuid(WORKER_UID)
    _set_capabilities(libc, 0)
    if not IS_GVISOR and libc.setfsuid(-1) != WORKER_UID:
        raise OSError("the files helper did not get the worker's rights")
    os.umask(0o022)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    hide_memory()
    seccomp.install()


def _set_capabilities(libc: ctypes.CDLL, mask: int) -> None:
    """Effective and permitted capabilities become `mask`. Raises OSError."""
    header = struct.pack("Ii", _CAPABILITY_VERSION_3, 0)
    data = struct.pack("6I", mask, mask, 0, 0, 0, 0)
    if libc.capset(header, data) != 0:
        raise OSError(ctypes.get_errno(), "capabilities could not be set")


def main(control: int) -> None:
    """Serves one end of a socket of packets, in a process that the zygote forked. Does not return."""
    os.chdir("/")
    _become_helper()
    Helper(socket.socket(fileno=control)).serve()
