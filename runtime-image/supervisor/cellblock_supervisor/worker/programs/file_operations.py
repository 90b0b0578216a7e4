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
from collections.abc import Callable

# The program is isolated from the environment, so that its own folder is not on the path. Libraries are added by the operations that need them.
_FOLDER = os.path.dirname(os.path.abspath(__file__))
if _FOLDER not in sys.path:
    sys.path.insert(0, _FOLDER)

from file_entries import DATA_DIR, MAX_DEPTH, MAX_RESULT_BYTES, Json, Refusal, absolute, entry_of, text_of, walk  # noqa: E402

MAX_ENTRIES = 5_000
_LIBRARIES = ("/usr/local/lib/python3.13/dist-packages", "/usr/lib/python3/dist-packages")

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
    errno.ERANGE: "invalid",
    errno.E2BIG: "invalid",
}


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
            entry = _entry(path, request)
        except OSError:
            continue
        size += len(json.dumps(entry)) + 1
        entries.append(entry)
    return {"entries": entries, "is_truncated": False}


def stat_path(request: Json) -> Json:
    return {"entry": _entry(absolute(request["path"]), request)}


def _entry(path: str, request: Json) -> Json:
    return entry_of(path, str(request.get("attributes") or ""))


def annotate(request: Json) -> Json:
    """Gives files the extended attributes `values` under the prefix `attributes`, and takes their others of this prefix away."""
    prefix, values = str(request["attributes"]), request["values"]
    if not isinstance(values, dict) or not isinstance(request["paths"], list):
        raise Refusal("invalid", "The attributes are no names with values.")
    for path in map(absolute, request["paths"]):
        for name in os.listxattr(path):
            if name.startswith(prefix):
                os.removexattr(path, name)
        for name, value in values.items():
            os.setxattr(path, f"{prefix}{name}", str(value).encode())
    return {"annotated": len(request["paths"])}


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
        return {"entry": _entry(source, request)}
    if target.startswith(source + "/"):
        raise Refusal("invalid", "A folder cannot be moved into itself.")
    if os.path.lexists(target):
        if not request.get("overwrite"):
            raise Refusal("exists", f"{text_of(target)} exists. Set overwrite, or remove it first.")
        if os.path.isdir(target) and not os.path.islink(target):
            raise Refusal("is_a_folder", f"{text_of(target)} is a folder, which a move does not replace. Remove it first.")
    os.makedirs(os.path.dirname(target), exist_ok=True)
    try:
        os.rename(source, target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        # Another file system, as from /tmp.
        shutil.move(source, target)
    return {"entry": _entry(target, request)}


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
        raise Refusal("invalid", f"{text_of(path)} is not a regular file.")
    return open(path, "rb")


def preview(request: Json) -> Json:
    sys.path += _LIBRARIES
    import file_preview

    path = absolute(request["path"])
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, "is a folder", path)
    _open_file(path).close()
    rows, pixels = int(str(request.get("rows") or 20)), int(str(request.get("pixels") or 256))
    return {"entry": entry_of(path), "preview": file_preview.preview(path, rows, pixels)}


def unpack(request: Json) -> Json:
    sys.path += _LIBRARIES
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
    return {"files": len(paths), "paths": [text_of(path) for path in paths[:1_000]]}


def watch(request: Json) -> None:
    """Never returns."""
    import folder_watch

    folder_watch.watch(request, _print)


OPERATIONS: dict[str, Callable[[Json], Json | None]] = {
    "list": list_folder,
    "stat": stat_path,
    "annotate": annotate,
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
        return {"error": {"code": code, "message": f"{text_of(path)}: {error.strerror or error}."[:1_000]}}


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
