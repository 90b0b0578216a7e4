"""The operation `watch`: one change a line, until the program is ended."""

import os
import stat
import time
from collections.abc import Callable, Iterator

from file_entries import MAX_DEPTH, Json, absolute, text_of, walk

MAX_WATCHED = 20_000
_WATCH_SECONDS = 0.25

_Stamp = tuple[int, int, int, bool]


def watch(request: Json, report: Callable[[Json], None]) -> None:
    """Compares snapshots: no limit on kernel watches applies, and it works on every file system. Never returns."""
    folder = absolute(request["path"])
    os.listdir(folder)
    depth = MAX_DEPTH if request.get("recursive") else 1
    before = _snapshot(folder, depth)
    report({"op": "watching", "path": text_of(folder)})
    while True:
        time.sleep(_WATCH_SECONDS)
        now = _snapshot(folder, depth)
        for change in changes(before, now):
            report(change)
        before = now


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
                yield {"op": "create", "path": text_of(path)}
            else:
                yield {"op": "rename", "path": text_of(path), "from": text_of(source)}
        elif before[path] != stamp:
            yield {"op": "write", "path": text_of(path)}
    for path in removed.values():
        yield {"op": "remove", "path": text_of(path)}
