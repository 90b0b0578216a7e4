"""Threads that code has started, itself or through a library. They end with the process, so a snapshot names them."""

import sys
import threading
from collections.abc import Iterator
from types import FrameType

# Their threads serve an object that is named itself, or that starts them again when it is used.
_OF_LIBRARIES = ("multiprocessing.", "concurrent.futures.process", "joblib.", "tqdm.", "IPython.", "ipykernel.", "tornado.", "cellblock_supervisor.")
_POOL = "concurrent.futures.thread"
_REASON = "A running thread cannot be saved. Start it again."


class RunningThreads:
    """`begin` is called before user code runs."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        self._before = frozenset(sys._current_frames())

    def named(self) -> Iterator[tuple[str, str]]:
        frames = sys._current_frames()
        known = {thread.ident: thread for thread in threading.enumerate()}
        for ident, frame in frames.items():
            thread = known.get(ident)
            if ident in self._before or ident == threading.get_ident() or _is_of_library(thread, frame):
                continue
            # Threads of the module _thread have no name.
            yield f"thread {ident if thread is None else thread.name}", _REASON


def _is_of_library(thread: threading.Thread | None, frame: FrameType) -> bool:
    target = getattr(thread, "_target", None)
    modules = [str(getattr(target, "__module__", "")), type(thread).__module__]
    if any(module.startswith(_OF_LIBRARIES) for module in modules):
        return True
    # A worker of a pool that waits for work.
    return _POOL in modules and frame.f_globals.get("__name__") == _POOL
