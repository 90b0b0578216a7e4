"""Unpacks an uploaded archive (zip, tar, tar.gz, tar.bz2, tar.xz) into a folder. Names that leave the folder, links and devices are refused, and so are bombs."""

import os
import stat
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from typing import IO

MAX_FILES = 10_000
MAX_TOTAL_BYTES = 2 * 1024 * 1024 * 1024
# A text compresses by a factor of 3 to 20, an empty table by some hundred.
MAX_RATIO = 300
_RATIO_COUNTS_FROM_BYTES = 16 * 1024 * 1024
_CHUNK_BYTES = 1024 * 1024


class ArchiveError(Exception):
    """The archive is damaged or refused. The message says why."""


Member = tuple[str, int, Callable[[], IO[bytes]]]


def unpack(archive: str, folder: str) -> list[str]:
    """Returns the paths of the unpacked files. Every name is checked before the first file is written. Raises ArchiveError or OSError."""
    root = os.path.realpath(folder)
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as packed:
                return _write(list(_zip_members(packed)), root, os.path.getsize(archive))
        if tarfile.is_tarfile(archive):
            with tarfile.open(archive) as packed_tar:
                return _write(list(_tar_members(packed_tar)), root, os.path.getsize(archive))
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, NotImplementedError, ValueError) as error:
        raise ArchiveError(f"The archive is damaged or of an unknown form: {error}") from error
    except RuntimeError as error:
        # zipfile's answer to a missing password.
        raise ArchiveError(f"The archive cannot be read: {error}") from error
    raise ArchiveError("The file is no zip or tar archive.")


def _zip_members(packed: zipfile.ZipFile) -> Iterator[Member]:
    for info in packed.infolist():
        kind = stat.S_IFMT(info.external_attr >> 16)
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise ArchiveError(f"The archive holds a link or a device: {info.filename!r}. Only files and folders are unpacked.")
        if not info.is_dir():
            yield info.filename, info.file_size, lambda info=info: packed.open(info)


def _tar_members(packed: tarfile.TarFile) -> Iterator[Member]:
    for number, info in enumerate(packed):
        if number > 2 * MAX_FILES:
            raise ArchiveError(f"The archive holds more than {MAX_FILES} files.")
        if info.isdir():
            continue
        if not info.isreg():
            raise ArchiveError(f"The archive holds a link or a device: {info.name!r}. Only files and folders are unpacked.")
        yield info.name, info.size, lambda info=info: packed.extractfile(info)  # type: ignore[misc,return-value]


def _write(members: list[Member], root: str, archive_bytes: int) -> list[str]:
    if len(members) > MAX_FILES:
        raise ArchiveError(f"The archive holds {len(members)} files; at most {MAX_FILES} are unpacked.")
    _check_total(sum(size for _, size, _ in members), archive_bytes)
    targets = [_target(root, name) for name, _, _ in members]
    written = 0
    for target, (_, _, open_member) in zip(targets, members, strict=True):
        parent = os.path.dirname(target)
        os.makedirs(parent, exist_ok=True)
        # A link among the folders that existed before must not lead out of the folder.
        if os.path.realpath(parent) != parent:
            raise ArchiveError(f"{parent} is reached through a link. Unpack into another folder.")
        if os.path.islink(target):
            os.unlink(target)
        with open_member() as source, open(target, "wb") as file:
            while chunk := source.read(_CHUNK_BYTES):
                written += len(chunk)
                # The sizes that the archive states are not trusted.
                _check_total(written, archive_bytes)
                file.write(chunk)
    return targets


def _check_total(total: int, archive_bytes: int) -> None:
    if total > MAX_TOTAL_BYTES:
        raise ArchiveError(f"The archive unpacks to more than {MAX_TOTAL_BYTES} bytes.")
    if total > _RATIO_COUNTS_FROM_BYTES and total > MAX_RATIO * archive_bytes:
        raise ArchiveError(f"The archive unpacks to more than {MAX_RATIO} times its size, as a decompression bomb does.")


def _target(root: str, name: str) -> str:
    parts = name.replace("\\", "/").split("/")
    if name.startswith(("/", "\\")) or ".." in parts or ":" in parts[0] or "\0" in name:
        raise ArchiveError(f"The name {name!r} leads out of the folder. Nothing was unpacked.")
    kept = [part for part in parts if part not in ("", ".")]
    if not kept:
        raise ArchiveError("The archive holds a file without a name.")
    return os.path.join(root, *kept)
