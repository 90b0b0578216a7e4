"""What code changes in its process besides variables: environment, folder, file mask, search path, options of libraries, random states, temporary files.

Parts are saved only where they differ from the start of the kernel, each on its own, so that one that fails is named and the others are kept.
"""

import functools
import os
import pickle
import random
import sys
import time
import warnings
from collections.abc import Callable, Iterator

import cloudpickle
from IPython.core.getipython import get_ipython

from ....config import DATA_DIR, HOME_DIR
from ..values import databases
from . import file_attributes, interpreter_state, logging_state, temporary_files
from .file_attributes import FileAttributes
from .interpreter_state import InterpreterState
from .library_options import OPTION_GROUPS
from .logging_state import LoggingState

_SKIPPED_VARIABLES = frozenset(("PWD", "OLDPWD", "_", "COLUMNS", "LINES"))

_DEFAULT_MASK = 0o022

# Variables may refer to these files, and to modules that are found by this path.
FIRST_PARTS = ("temporary files", "folders and links", "sys.path")

Lost = list[dict[str, str]]


class ProcessState:
    """Made before a kernel is forked."""

    def __init__(self) -> None:
        self._logging = LoggingState()
        self._interpreter = InterpreterState()
        self._start = {name: group.read() for name, group in OPTION_GROUPS.items() if group.is_loaded}
        self.begin()

    def begin(self) -> None:
        """Reads again what the start of a kernel changes. Called before user code runs."""
        self._environ = dict(os.environ)
        self._path = list(sys.path)
        self._filters = list(warnings.filters)
        self._interpreter.begin()

    def dump(self, lost: Lost) -> dict[str, bytes]:
        """Pickled parts by name. What cannot be kept is added to `lost`."""
        parts: dict[str, bytes] = {}
        for name, read in self._readers(lost):
            try:
                value = read()
                if value is not None:
                    # Options may be functions of the notebook.
                    parts[name] = cloudpickle.dumps(value)
            except BaseException as error:
                lost.append({"what": name, "reason": f"{type(error).__name__}: {error}"[:300]})
        return parts

    def load(self, name: str, body: bytes) -> None:
        """Applies one part; raises what applying raises."""
        value = pickle.loads(body)
        if name in OPTION_GROUPS:
            OPTION_GROUPS[name].set(value)
        elif name in _APPLY:
            _APPLY[name](value)
        else:
            raise ValueError("This version of the sandbox cannot restore it.")

    def _readers(self, lost: Lost) -> Iterator[tuple[str, Callable[[], object]]]:
        yield "environment variables", self._changed_environment
        yield "working directory", _folder
        yield "umask", _mask
        yield "sys.path", lambda: list(sys.path) if sys.path != self._path else None
        yield "warning filters", lambda: list(warnings.filters) if warnings.filters != self._filters else None
        yield "loggers", lambda: self._logging.changed(lost)
        yield "interpreter", self._interpreter.changed
        yield "random state", random.getstate
        if "numpy" in sys.modules:
            yield "numpy random state", lambda: sys.modules["numpy"].random.get_state()
        shell = get_ipython()
        if shell is not None:
            yield "inputs of the notebook", lambda: interpreter_state.inputs(shell)
        for name, group in OPTION_GROUPS.items():
            if group.is_loaded:
                yield name, lambda name=name: self._changed_options(name)
        yield "DuckDB tables", databases.default_duckdb
        yield "temporary files", lambda: temporary_files.pack(lost)
        attributes = functools.cache(lambda: FileAttributes(lost))
        yield "folders and links", lambda: attributes().folders_and_links()
        # The last part: others may open or change files.
        yield "file attributes", lambda: attributes().modes_and_times()

    def _changed_environment(self) -> dict[str, str | None] | None:
        now = {name: value for name, value in os.environ.items() if name not in _SKIPPED_VARIABLES}
        changed: dict[str, str | None] = {name: value for name, value in now.items() if self._environ.get(name) != value}
        changed |= {name: None for name in self._environ if name not in os.environ}
        return changed or None

    def _changed_options(self, name: str) -> dict[str, object] | None:
        group = OPTION_GROUPS[name]
        before = self._start.get(name) or group.defaults()
        changed = {key: value for key, value in group.read().items() if key not in before or not _is_same(before[key], value)}
        return changed or None


def _is_same(before: object, now: object) -> bool:
    try:
        return bool(before == now)
    except Exception:
        return False


def _folder() -> str | None:
    folder = os.getcwd()
    return None if folder == DATA_DIR else folder


def _mask() -> int | None:
    mask = os.umask(_DEFAULT_MASK)
    os.umask(mask)
    return None if mask == _DEFAULT_MASK else mask


def _enter_folder(folder: str) -> None:
    # A snapshot keeps a limited number of folders.
    if folder.startswith((f"{DATA_DIR}/", f"{HOME_DIR}/", "/tmp/")):
        os.makedirs(folder, exist_ok=True)
    os.chdir(folder)


def _apply_environment(changed: dict[str, str | None]) -> None:
    for name, value in changed.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    if "TZ" in changed:
        time.tzset()


def _apply_path(path: list[str]) -> None:
    sys.path[:] = path


def _apply_filters(filters: list[tuple[object, ...]]) -> None:
    warnings.filters[:] = filters  # type: ignore[index]
    # Each module caches which of its warnings were shown, by version of the filters.
    getattr(warnings, "_filters_mutated", lambda: None)()


_APPLY: dict[str, Callable[[object], None]] = {
    "environment variables": _apply_environment,  # type: ignore[dict-item]
    "working directory": _enter_folder,  # type: ignore[dict-item]
    "umask": os.umask,  # type: ignore[dict-item]
    "sys.path": _apply_path,  # type: ignore[dict-item]
    "warning filters": _apply_filters,  # type: ignore[dict-item]
    "loggers": logging_state.restore,  # type: ignore[dict-item]
    "interpreter": interpreter_state.restore,  # type: ignore[dict-item]
    "inputs of the notebook": interpreter_state.set_inputs,  # type: ignore[dict-item]
    "random state": random.setstate,  # type: ignore[dict-item]
    "numpy random state": lambda state: __import__("numpy").random.set_state(state),
    "DuckDB tables": databases.load_default_duckdb,  # type: ignore[dict-item]
    "temporary files": temporary_files.unpack,  # type: ignore[arg-type]
    "folders and links": file_attributes.make_folders_and_links,  # type: ignore[dict-item]
    "file attributes": file_attributes.set_modes_and_times,  # type: ignore[dict-item]
}
