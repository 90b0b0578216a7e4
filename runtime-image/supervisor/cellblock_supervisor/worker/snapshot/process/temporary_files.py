"""Files in /tmp and the home folder: packed into one archive with the variables, because only /mnt/data is stored. Installed packages are kept apart."""

import contextlib
import io
import os
import stat
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ....config import HOME_DIR, PACKAGES_DIR, SPAWNED_DIR

if TYPE_CHECKING:
    import tarfile

_FOLDERS = ("/tmp", HOME_DIR)
# Entries of these folders that the sandbox itself makes.
OWN_ENTRIES = frozenset(
    (*("/tmp/.ipython-profile", SPAWNED_DIR), *(f"{HOME_DIR}/{name}" for name in (".config", ".ipython", ".cache")))
)
_MAX_BYTES = 32 * 1024 * 1024
_MAX_FILES = 1_000
_MAX_NAMED = 20


def pack(lost: list[dict[str, str]]) -> bytes | None:
    """None when there are no files. Those beyond the limits are named."""
    # Imported when it is used: an idle kernel would hold 0.4 MB more.
    import tarfile

    archive = io.BytesIO()
    left, count, refused = _MAX_BYTES, 0, []
    with tarfile.open(fileobj=archive, mode="w") as packed:
        for path, size in (entry for folder in _FOLDERS for entry in _files_in(folder)):
            if size > left or count >= _MAX_FILES or not _add(packed, path):
                refused.append(path)
                continue
            left, count = left - size, count + 1
    for path in refused[:_MAX_NAMED]:
        lost.append({"what": f"file {path}", "reason": f"More than {_MAX_BYTES} bytes or {_MAX_FILES} files outside /mnt/data are not kept."})
    if len(refused) > _MAX_NAMED:
        lost.append({"what": "temporary files", "reason": f"{len(refused) - _MAX_NAMED} more files outside /mnt/data are not kept."})
    return archive.getvalue() if count else None


def unpack(archive: bytes) -> None:
    import tarfile

    with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
        packed.extractall("/", filter="tar")


def _add(packed: "tarfile.TarFile", path: str) -> bool:
    try:
        packed.add(path, arcname=path, recursive=False)
        return True
    except OSError:
        return False


def _files_in(top: str) -> Iterator[tuple[str, int]]:
    """Regular files with their sizes, except installed packages."""
    for path, folders, files in os.walk(top):
        folders[:] = [name for name in folders if os.path.join(path, name) not in OWN_ENTRIES | {PACKAGES_DIR}]
        for name in files:
            whole = os.path.join(path, name)
            # A file may vanish meanwhile.
            with contextlib.suppress(OSError):
                status = os.lstat(whole)
                if stat.S_ISREG(status.st_mode):
                    yield whole, status.st_size
