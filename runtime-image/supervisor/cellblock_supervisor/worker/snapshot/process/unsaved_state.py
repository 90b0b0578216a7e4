"""What a snapshot cannot keep and that is no variable: running threads and tasks, signal handlers, changes of notebook and pandas. They are named."""

import asyncio
import builtins
import signal
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from ...live_namespace import live_namespace
from . import child_processes
from .interpreter_state import uses_results
from .running_threads import RunningThreads

_MAX_NAMED = 20
_PANDAS_CLASSES = ("DataFrame", "Series", "Index")


class UnsavedState:
    """Made before user code runs."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._magics = set(_magics(shell))
        self._threads = RunningThreads()
        self._builtins = frozenset(vars(builtins))

    def begin(self) -> None:
        """Reads again what the start of a kernel changes."""
        self._threads.begin()
        self._builtins = frozenset(vars(builtins))

    def named(self, sessions: frozenset[int]) -> list[dict[str, str]]:
        """`sessions` are the processes of the language sessions."""
        named = [*_bounded("threads", self._threads.named()), *_bounded("processes", child_processes.running(sessions))]
        named += _bounded("changes", (*_tasks(), *self._new_magics(), *self._new_builtins(), *self._results(), *_pandas_changes()))
        return [{"what": what, "reason": reason} for what, reason in named]

    def _new_magics(self) -> Iterator[tuple[str, str]]:
        for name, function in _magics(self._shell).items():
            if name not in self._magics and getattr(function, "__globals__", None) is live_namespace():
                yield f"magic {name}", "A magic command that code defines cannot be saved. Run its definition again."

    def _new_builtins(self) -> Iterator[tuple[str, str]]:
        for name in vars(builtins).keys() - self._builtins:
            yield f"builtins {name}", "A name that code sets on builtins cannot be saved. Set it again."

    def _results(self) -> Iterator[tuple[str, str]]:
        if uses_results(self._shell):
            yield "results Out", "Results in Out and _ are not saved. Assign a result to a variable to keep it."


def _bounded(kind: str, found: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    entries = list(found)
    left_out = len(entries) - _MAX_NAMED
    return [*entries[:_MAX_NAMED], *([(f"other {kind}", f"{left_out} more of them cannot be saved.")] if left_out > 0 else [])]


def _magics(shell: Any) -> dict[str, Any]:
    magics = shell.magics_manager.magics
    return {f"{mark}{name}": function for kind, mark in (("line", "%"), ("cell", "%%")) for name, function in magics[kind].items()}


def named_signal_handlers() -> list[dict[str, str]]:
    """Those that code has set. Not to be called within a time budget, which sets its own."""
    handlers = ((number, signal.getsignal(number)) for number in signal.valid_signals())
    reason = "A signal handler cannot be saved. Call signal.signal() again."
    return [
        # Most real-time signals have a number only.
        {"what": f"signal handler {getattr(number, 'name', number)}", "reason": reason}
        for number, handler in handlers
        if getattr(handler, "__module__", None) == "__main__"
    ]


def _tasks() -> Iterator[tuple[str, str]]:
    try:
        tasks = asyncio.all_tasks()
    except RuntimeError:
        return
    for task in tasks:
        frame = getattr(task.get_coro(), "cr_frame", None)
        if frame is not None and frame.f_globals is live_namespace():
            yield f"task {task.get_name()}", "A running asyncio task cannot be saved. Start it again."


def _pandas_changes() -> Iterator[tuple[str, str]]:
    pandas = sys.modules.get("pandas")
    if pandas is None:
        return
    if hasattr(pandas.DataFrame, "progress_apply"):
        yield "tqdm.pandas()", "The methods progress_apply and progress_map cannot be saved. Call tqdm.pandas() again."
    for name in _PANDAS_CLASSES:
        for accessor in getattr(getattr(pandas, name), "_accessors", ()):
            made = getattr(getattr(pandas, name), accessor, None)
            if getattr(made, "__module__", None) == "__main__":
                yield f"pandas accessor {name}.{accessor}", "An accessor that code registers cannot be saved. Run its definition again."
