"""Files of /mnt/data, streamed in and out."""

import asyncio
import errno
import os
from collections.abc import AsyncIterator, Coroutine

from ..files import paths
from ..files.client import FileError
from ..sandbox import Sandbox
from .messages import HttpError, Reply, Request, json_reply

_CHUNK_BYTES = 256 * 1024
_FULL = ("ENOSPC", "EDQUOT")


async def listing(sandbox: Sandbox, _request: Request) -> Reply:
    files, skipped = await sandbox.tracker.listing()
    return json_reply({"files": files, "skipped": skipped})


async def get(sandbox: Sandbox, request: Request) -> Reply:
    fd = await _file_result(sandbox.files.open(_path(request)))
    size = os.fstat(fd).st_size
    return Reply(content_type="application/octet-stream", stream=_read(fd, size), length=size)


async def put(sandbox: Sandbox, request: Request) -> Reply:
    path = _path(request)
    fd, token = await _file_result(sandbox.files.create(path))
    try:
        size, sha256 = await _write(fd, request.body)
        stamp = await _file_result(sandbox.files.commit(token))
    except BaseException:
        await asyncio.shield(sandbox.files.abort(token))
        raise
    finally:
        os.close(fd)
    await sandbox.tracker.put(path, stamp, size, sha256)
    return json_reply({"path": path, "bytes": size, "sha256": sha256})


async def delete(sandbox: Sandbox, request: Request) -> Reply:
    path = _path(request)
    try:
        await sandbox.files.remove(path)
    except FileError as error:
        if error.code not in ("ENOENT", "ENOTDIR"):
            raise _http_error(error) from None
    await sandbox.tracker.removed(path)
    return Reply(204)


def _path(request: Request) -> str:
    path = "/".join(request.path[1:])
    # A percent-encoded slash inside a segment would make one name into two.
    if any("/" in segment for segment in request.path[1:]) or paths.segments(path) is None:
        raise HttpError("bad_request", "the path must be relative to the data folder, without empty, . or .. segments")
    return path


async def _read(fd: int, size: int) -> AsyncIterator[bytes]:
    """Exactly `size` bytes; a file that shrank meanwhile ends the answer early."""
    try:
        left = size
        while left > 0:
            data = os.read(fd, min(_CHUNK_BYTES, left))
            if not data:
                raise HttpError("internal", "the file changed while it was read")
            left -= len(data)
            yield data
    finally:
        os.close(fd)


async def _write(fd: int, body: AsyncIterator[bytes]) -> tuple[int, str]:
    # It loads OpenSSL, which an idle sandbox does without.
    import hashlib

    digest, size = hashlib.sha256(), 0
    try:
        async for part in body:
            view = memoryview(part)
            digest.update(view)
            size += len(view)
            while view:
                view = view[os.write(fd, view) :]
    except OSError as error:
        if isinstance(error, ConnectionError):
            raise
        raise _http_error(FileError(errno.errorcode.get(error.errno or 0, "EIO"), error.strerror or "failed")) from None
    return size, digest.hexdigest()


async def _file_result[T](answer: Coroutine[object, object, T]) -> T:
    try:
        return await answer
    except FileError as error:
        raise _http_error(error) from None


def _http_error(error: FileError) -> HttpError:
    if error.code in _FULL:
        return HttpError("disk_full", "the sandbox's data folder is full: delete files or use a larger tier")
    if error.code == "EFBIG":
        return HttpError("too_large", "the file is larger than this sandbox allows")
    if error.code in ("ENOENT", "ENOTDIR", "ELOOP"):
        return HttpError("not_found", "there is no such file")
    if error.code == "EAGAIN":
        return HttpError("unavailable", "too many uploads at once: try again")
    if error.code == "refused":
        return HttpError("not_found", f"there is no regular file at this path ({error.reason})")
    if error.code in ("EISDIR", "EEXIST", "ENOTEMPTY", "EACCES", "EPERM", "EINVAL", "ENAMETOOLONG"):
        return HttpError("bad_request", f"the sandbox refused the file operation: {error.reason}")
    return HttpError("unavailable", f"the file operation failed: {error.reason}")
