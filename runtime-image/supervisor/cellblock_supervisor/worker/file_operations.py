"""File operations of the API, as a program that runs with the worker's rights: `python3 -I -S file_operations.py '{"op": "list", "path": "."}'`.

It prints one JSON object: the result, or `{"error": {"code", "message"}}`. `watch` prints one object per change until it is ended. It imports nothing
of the supervisor and of the libraries, so that it starts in about 20 ms. Paths are absolute or relative to /mnt/data.
"""

import errno
import json
import os
import shutil
import stat
import sys
import time
from collections.abc import Callable, Iterator

DATA_DIR = "/mnt/data"
# Below the head of a stream that the supervisor keeps.
MAX_RESULT_BYTES = 700 * 1024
MAX_ENTRIES = 5_000
MAX_DEPTH = 64
MAX_WATCHED = 20_000
_WATCH_SECONDS = 0.25
_UPLOAD_PREFIX = ".cellblock-upload-"

Json = dict[str, object]


class Refusal(Exception):
    """The operation is refused. The message is a sentence for the client."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


_CODES = {
    errno.ENOENT: "not_found",
    errno.ENOTDIR: "not_a_folder",
    errno.EISDIR: "is_a_folder",
    errno.EEXIST: "exists",
    errno.ENOTEMPTY: "not_empty",
    errno.EACCES: "permission_denied",
    errno.EPERM: "permission_denied",
    errno.EROFS: "permission_denied",
    errno.EBUSY: "permission_denied",
    errno.ENOSPC: "disk_full",
    errno.EDQUOT: "disk_full",
    errno.ENAMETOOLONG: "invalid",
    errno.ELOOP: "invalid",
    errno.EINVAL: "invalid",
}


def absolute(path: object) -> str:
    if not isinstance(path, str) or path == "" or "\0" in path:
        raise Refusal("invalid", "The path is empty or contains a null character.")
    return os.path.normpath(os.path.join(DATA_DIR, path))


def entry_of(path: str) -> Json:
    """Raises OSError. Times are milliseconds since the epoch."""
    status = os.lstat(path)
    entry: Json = {
        "path": _text(path),
        "name": _text(os.path.basename(path)),
        "type": _type_of(status.st_mode),
        "bytes": status.st_size if stat.S_ISREG(status.st_mode) else 0,
        "modified_at": status.st_mtime_ns // 1_000_000,
        "mode": stat.S_IMODE(status.st_mode),
    }
    if stat.S_ISLNK(status.st_mode):
        entry["target"] = _text(os.readlink(path))
    return entry


def _type_of(mode: int) -> str:
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "folder"
    return "link" if stat.S_ISLNK(mode) else "other"


def _text(name: str) -> str:
    return name.encode("utf-8", "replace").decode()


def walk(folder: str, depth: int) -> Iterator[str]:
    """Paths below a folder, sorted, folders before what they hold. Links are not followed; unreadable folders are skipped."""
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    for name in names:
        if name.startswith(_UPLOAD_PREFIX):
            continue
        path = os.path.join(folder, name)
        yield path
        if depth > 1 and os.path.isdir(path) and not os.path.islink(path):
            yield from walk(path, depth - 1)


def list_folder(request: Json) -> Json:
    folder = absolute(request["path"])
    # Reports a missing folder, a file in its place and a closed folder.
    os.listdir(folder)
    entries: list[Json] = []
    size, limit = 0, min(int(str(request.get("limit") or MAX_ENTRIES)), MAX_ENTRIES)
    for path in walk(folder, min(int(str(request.get("depth") or 1)), MAX_DEPTH)):
        if len(entries) >= limit or size > MAX_RESULT_BYTES:
            return {"entries": entries, "is_truncated": True}
        try:
            entry = entry_of(path)
        except OSError:
            continue
        size += len(json.dumps(entry)) + 1
        entries.append(entry)
    return {"entries": entries, "is_truncated": False}


def stat_path(request: Json) -> Json:
    return {"entry": entry_of(absolute(request["path"]))}


def make_folder(request: Json) -> Json:
    path = absolute(request["path"])
    existed = os.path.isdir(path)
    os.makedirs(path, exist_ok=True)
    return {"entry": entry_of(path), "is_new": not existed}


def move(request: Json) -> Json:
    source, target = absolute(request["from"]), absolute(request["to"])
    _refuse_root(source)
    os.lstat(source)
    if target == source:
        return {"entry": entry_of(source)}
    if target.startswith(source + "/"):
        raise Refusal("invalid", "A folder cannot be moved into itself.")
    if os.path.lexists(target):
        if not request.get("overwrite"):
            raise Refusal("exists", f"{_text(target)} exists. Set overwrite, or remove it first.")
        if os.path.isdir(target) and not os.path.islink(target):
            raise Refusal("is_a_folder", f"{_text(target)} is a folder, which a move does not replace. Remove it first.")
    os.makedirs(os.path.dirname(target), exist_ok=True)
    try:
        os.rename(source, target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        # Another file system, as from /tmp.
        shutil.move(source, target)
    return {"entry": entry_of(target)}


def remove(request: Json) -> Json:
    path = absolute(request["path"])
    _refuse_root(path)
    status = os.lstat(path)
    if not stat.S_ISDIR(status.st_mode):
        os.unlink(path)
        return {"removed": 1}
    if not request.get("recursive"):
        os.rmdir(path)
        return {"removed": 1}
    count = sum(1 for _ in walk(path, MAX_DEPTH)) + 1
    shutil.rmtree(path)
    return {"removed": count}


def _refuse_root(path: str) -> None:
    if path in ("/", DATA_DIR, "/tmp", os.path.expanduser("~")):
        raise Refusal("permission_denied", f"{path} itself cannot be moved or removed.")


def read_range(request: Json) -> Json:
    """Bytes from `offset`, as base64; `bytes` is the size of the file."""
    import base64

    path = absolute(request["path"])
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, "is a folder", path)
    with _open_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        file.seek(max(0, int(str(request.get("offset") or 0))))
        length = min(int(str(request.get("length") or MAX_RESULT_BYTES)), MAX_RESULT_BYTES * 3 // 4)
        data = file.read(max(0, length))
    return {"data": base64.b64encode(data).decode(), "bytes": size}


def _open_file(path: str):  # noqa: ANN202
    """Raises Refusal for what is no regular file: opening a pipe would wait for its other end."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise Refusal("invalid", f"{_text(path)} is not a regular file.")
    return open(path, "rb")


def preview(request: Json) -> Json:
    _add_libraries()
    import file_preview

    path = absolute(request["path"])
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, "is a folder", path)
    _open_file(path).close()
    rows, pixels = int(str(request.get("rows") or 20)), int(str(request.get("pixels") or 256))
    return {"entry": entry_of(path), "preview": file_preview.preview(path, rows, pixels)}


def unpack(request: Json) -> Json:
    _add_libraries()
    import archive_unpacking

    source, target = absolute(request["path"]), absolute(request.get("into") or ".")
    _open_file(source).close()
    os.makedirs(target, exist_ok=True)
    try:
        paths = archive_unpacking.unpack(source, target)
    except archive_unpacking.ArchiveError as error:
        raise Refusal("invalid", str(error)) from error
    if request.get("remove_archive"):
        os.unlink(source)
    return {"files": len(paths), "paths": [_text(path) for path in paths[:1_000]]}


def _add_libraries() -> None:
    """For the operations that need more than the standard library; the program starts without site-packages."""
    sys.path[:0] = [os.path.dirname(os.path.abspath(__file__))]
    sys.path += ["/usr/local/lib/python3.13/dist-packages", "/usr/lib/python3/dist-packages"]


def watch(request: Json) -> None:
    """Compares snapshots: no limit on kernel watches applies, and it works on every file system. Never returns."""
    folder = absolute(request["path"])
    os.listdir(folder)
    depth = MAX_DEPTH if request.get("recursive") else 1
    before = _snapshot(folder, depth)
    _print({"op": "watching", "path": _text(folder)})
    while True:
        time.sleep(_WATCH_SECONDS)
        now = _snapshot(folder, depth)
        for change in changes(before, now):
            _print(change)
        before = now


_Stamp = tuple[int, int, int, bool]


def _snapshot(folder: str, depth: int) -> dict[str, _Stamp]:
    """By path: inode, size, mtime and whether it is a folder."""
    found: dict[str, _Stamp] = {}
    for path in walk(folder, depth):
        if len(found) >= MAX_WATCHED:
            break
        try:
            status = os.lstat(path)
        except OSError:
            continue
        is_folder = stat.S_ISDIR(status.st_mode)
        # The size and time of a folder change with what it holds, which has its own events.
        found[path] = (status.st_ino, 0 if is_folder else status.st_size, 0 if is_folder else status.st_mtime_ns, is_folder)
    return found


def changes(before: dict[str, _Stamp], now: dict[str, _Stamp]) -> Iterator[Json]:
    removed = {stamp[0]: path for path, stamp in before.items() if path not in now}
    for path, stamp in now.items():
        if path not in before:
            source = removed.pop(stamp[0], None)
            if source is None:
                yield {"op": "create", "path": _text(path)}
            else:
                yield {"op": "rename", "path": _text(path), "from": _text(source)}
        elif before[path] != stamp:
            yield {"op": "write", "path": _text(path)}
    for path in removed.values():
        yield {"op": "remove", "path": _text(path)}


OPERATIONS: dict[str, Callable[[Json], Json | None]] = {
    "list": list_folder,
    "stat": stat_path,
    "mkdir": make_folder,
    "move": move,
    "remove": remove,
    "read": read_range,
    "preview": preview,
    "unpack": unpack,
    "watch": watch,
}


def run(request: Json) -> Json | None:
    """The result, or the error as `{"error": …}`."""
    try:
        return OPERATIONS[str(request["op"])](request)
    except Refusal as refusal:
        return {"error": {"code": refusal.code, "message": str(refusal)}}
    except OSError as error:
        code = _CODES.get(error.errno or 0, "failed")
        path = error.filename if isinstance(error.filename, str) else str(request.get("path") or request.get("from") or "")
        return {"error": {"code": code, "message": f"{_text(path)}: {error.strerror or error}."[:1_000]}}


def _print(value: Json) -> None:
    sys.stdout.write(json.dumps(value, separators=(",", ":")) + "\n")
    sys.stdout.flush()


def main(arguments: list[str]) -> int:
    result = run(json.loads(arguments[0]))
    if result is not None:
        _print(result)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
