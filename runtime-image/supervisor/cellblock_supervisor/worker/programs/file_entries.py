"""Entries of folders as the API describes them, and the errors of file operations. Paths are absolute or relative to /mnt/data."""

import contextlib
import os
import stat
import unicodedata
from collections.abc import Iterator

DATA_DIR = "/mnt/data"
# Below the head of a stream that the supervisor keeps.
MAX_RESULT_BYTES = 700 * 1024
MAX_DEPTH = 64
# Extended attributes of one file.
MAX_ATTRIBUTE_BYTES = 4 * 1024
UPLOAD_PREFIX = ".cellblock-upload-"

Json = dict[str, object]


class Refusal(Exception):
    """The operation is refused. The message is a sentence for the client."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def absolute(path: object) -> str:
    if not isinstance(path, str) or path == "" or "\0" in path:
        raise Refusal("invalid", "The path is empty or contains a null character.")
    wanted = os.path.normpath(os.path.join(DATA_DIR, path))
    return wanted if path.isascii() else _existing_spelling(wanted)


def _existing_spelling(path: str) -> str:
    """The path as it is on disk: names from Macs have accents as separate characters (form D), and clients send either form."""
    found = "/"
    for name in path.split("/")[1:]:
        forms = (name, unicodedata.normalize("NFC", name), unicodedata.normalize("NFD", name))
        found = os.path.join(found, next((form for form in forms if os.path.lexists(os.path.join(found, form))), name))
    return found


def entry_of(path: str, attributes: str = "") -> Json:
    """With the extended attributes whose names begin with `attributes`. Raises OSError. Times are milliseconds since the epoch."""
    status = os.lstat(path)
    entry: Json = {
        "path": text_of(path),
        "name": text_of(os.path.basename(path)),
        "type": _type_of(status.st_mode),
        "bytes": status.st_size if stat.S_ISREG(status.st_mode) else 0,
        "modified_at": status.st_mtime_ns // 1_000_000,
        "mode": stat.S_IMODE(status.st_mode),
    }
    if stat.S_ISLNK(status.st_mode):
        entry["target"] = text_of(os.readlink(path))
        with contextlib.suppress(OSError):
            leads_to = os.path.realpath(path, strict=True)
            mode = os.stat(leads_to).st_mode
            entry["resolved"] = {"path": text_of(leads_to), "type": _type_of(mode), "mode": stat.S_IMODE(mode)}
    if attributes and (found := extended_attributes(path, attributes)):
        entry["attributes"] = found
    return entry


def extended_attributes(path: str, prefix: str) -> dict[str, str]:
    """By name without the prefix. Empty where the file system has none; those beyond the limit are left out."""
    found: dict[str, str] = {}
    size = 0
    with contextlib.suppress(OSError):
        for name in os.listxattr(path, follow_symlinks=False):
            if not name.startswith(prefix):
                continue
            value = os.getxattr(path, name, follow_symlinks=False)
            size += len(name) + len(value)
            if size > MAX_ATTRIBUTE_BYTES:
                break
            found[text_of(name.removeprefix(prefix))] = value.decode("utf-8", "replace")
    return found


def _type_of(mode: int) -> str:
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "folder"
    return "link" if stat.S_ISLNK(mode) else "other"


def text_of(name: str) -> str:
    return name.encode("utf-8", "replace").decode()


def walk(folder: str, depth: int) -> Iterator[str]:
    """Paths below a folder, sorted, folders before what they hold. Links are not followed; unreadable folders are skipped."""
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    for name in names:
        if name.startswith(UPLOAD_PREFIX):
            continue
        path = os.path.join(folder, name)
        yield path
        if depth > 1 and os.path.isdir(path) and not os.path.islink(path):
            yield from walk(path, depth - 1)
