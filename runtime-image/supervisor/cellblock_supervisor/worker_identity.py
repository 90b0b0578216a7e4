"""Names the worker's UID in /etc/passwd and /etc/group, which link into a folder that only root can write to."""

import os

from .config import DEFAULT_WORKER_UID, IDENTITY_DIR, WORKER_UID

_TEMPLATES = "/etc/cellblock"
_NAME = "worker"


def write() -> None:
    """Raises OSError. On the image's own UID nothing is written: the image names it already."""
    if WORKER_UID == DEFAULT_WORKER_UID:
        return
    for file, columns in (("passwd", (2, 3)), ("group", (2,))):
        with open(f"{_TEMPLATES}/{file}", encoding="ascii") as template:
            lines = [_renumbered(line, columns) for line in template]
        descriptor = os.open(f"{IDENTITY_DIR}/{file}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
        with open(descriptor, "w", encoding="ascii") as target:
            target.writelines(lines)


def _renumbered(line: str, columns: tuple[int, ...]) -> str:
    fields = line.split(":")
    if fields[0] == _NAME:
        for column in columns:
            fields[column] = str(WORKER_UID)
    return ":".join(fields)
