"""What code changes in its process besides variables: environment, folder, search path, options of libraries, random states, temporary files.

Parts are saved only where they differ from the start of the kernel, each on its own, so that one that fails is named and the others are kept.
"""

import io
import logging
import os
import pickle
import random
import sys
import tarfile
import warnings
from collections.abc import Callable, Iterator

from ..config import DATA_DIR, HOME_DIR

_TEMPORARY_FOLDERS = ("/tmp", HOME_DIR)
# Entries of these folders that the sandbox itself makes.
_OWN_ENTRIES = frozenset(("/tmp/.ipython-profile", "/tmp/.pycache", f"{HOME_DIR}/.config", f"{HOME_DIR}/.ipython", f"{HOME_DIR}/.cache"))
_MAX_FILE_BYTES = 32 * 1024 * 1024
_MAX_FILES = 1_000
_MAX_NAMED_FILES = 20
# Follow from the kernel, not from the user.
_SKIPPED_PARAMETERS = frozenset(("backend", "backend_fallback", "interactive", "toolbar", "timezone"))
_SKIPPED_VARIABLES = frozenset(("PWD", "OLDPWD", "_", "COLUMNS", "LINES"))

# Variables may refer to these files.
FIRST_PARTS = ("temporary files",)

Lost = list[dict[str, str]]


class ProcessState:
    """Made at the start of a kernel, before user code runs."""

    def __init__(self) -> None:
        self._environ = dict(os.environ)
        self._path = list(sys.path)
        self._filters = list(warnings.filters)
        self._log_level = logging.getLogger().level
        self._start = {name: read() for name, (read, _) in _OPTIONS.items() if _is_loaded(name)}

    def dump(self, lost: Lost) -> dict[str, bytes]:
        """Pickled parts by name. What cannot be kept is added to `lost`."""
        parts: dict[str, bytes] = {}
        for name, read in self._readers(lost):
            try:
                value = read()
                if value is not None:
                    parts[name] = pickle.dumps(value)
            except BaseException as error:
                lost.append({"what": name, "reason": f"{type(error).__name__}: {error}"[:300]})
        return parts

    def load(self, name: str, body: bytes) -> None:
        """Applies one part; raises what applying raises."""
        value = pickle.loads(body)
        if name in _OPTIONS:
            _OPTIONS[name][1](value)
        else:
            _APPLY[name](value)

    def _readers(self, lost: Lost) -> Iterator[tuple[str, Callable[[], object]]]:
        yield "environment variables", self._changed_environment
        yield "working directory", _folder
        yield "sys.path", lambda: list(sys.path) if sys.path != self._path else None
        yield "warning filters", lambda: list(warnings.filters) if warnings.filters != self._filters else None
        yield "logging", self._logging
        yield "random state", random.getstate
        if "numpy" in sys.modules:
            yield "numpy random state", lambda: sys.modules["numpy"].random.get_state()
        for name in _OPTIONS:
            if _is_loaded(name):
                yield name, lambda name=name: self._changed_options(name)
        yield "temporary files", lambda: _pack_files(lost)

    def _changed_environment(self) -> dict[str, str | None] | None:
        now = {name: value for name, value in os.environ.items() if name not in _SKIPPED_VARIABLES}
        changed: dict[str, str | None] = {name: value for name, value in now.items() if self._environ.get(name) != value}
        changed |= {name: None for name in self._environ if name not in os.environ}
        return changed or None

    def _logging(self) -> object:
        root = logging.getLogger()
        handlers = [
            (handler.level, handler.formatter)
            for handler in root.handlers
            if type(handler) is logging.StreamHandler
        ]
        return (root.level, handlers) if root.level != self._log_level or handlers else None

    def _changed_options(self, name: str) -> dict[str, object] | None:
        read, _ = _OPTIONS[name]
        before = self._start.get(name) or _DEFAULTS[name]()
        changed = {key: value for key, value in read().items() if key not in before or not _is_same(before[key], value)}
        return changed or None


def _is_loaded(name: str) -> bool:
    return name.partition(" ")[0] in sys.modules


def _is_same(before: object, now: object) -> bool:
    try:
        return bool(before == now)
    except Exception:
        return False


def _folder() -> str | None:
    folder = os.getcwd()
    return None if folder == DATA_DIR else folder


def _apply_environment(changed: dict[str, str | None]) -> None:
    for name, value in changed.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def _apply_path(path: list[str]) -> None:
    sys.path[:] = path


def _apply_filters(filters: list[tuple[object, ...]]) -> None:
    warnings.filters[:] = filters  # type: ignore[index]
    # Each module caches which of its warnings were shown, by version of the filters.
    getattr(warnings, "_filters_mutated", lambda: None)()


def _apply_logging(value: tuple[int, list[tuple[int, logging.Formatter | None]]]) -> None:
    level, handlers = value
    root = logging.getLogger()
    root.setLevel(level)
    for handler_level, formatter in handlers:
        handler = logging.StreamHandler()
        handler.setLevel(handler_level)
        handler.setFormatter(formatter)
        root.addHandler(handler)


_APPLY: dict[str, Callable[[object], None]] = {
    "environment variables": _apply_environment,  # type: ignore[dict-item]
    "working directory": os.chdir,  # type: ignore[dict-item]
    "sys.path": _apply_path,  # type: ignore[dict-item]
    "warning filters": _apply_filters,  # type: ignore[dict-item]
    "logging": _apply_logging,  # type: ignore[dict-item]
    "random state": random.setstate,  # type: ignore[dict-item]
    "numpy random state": lambda state: __import__("numpy").random.set_state(state),
    "temporary files": lambda archive: _unpack_files(archive),  # type: ignore[arg-type]
}


def _pandas_options() -> dict[str, object]:
    from pandas._config import config

    return {key: config.get_option(key) for key in config._registered_options if key not in config._deprecated_options}


def _pandas_defaults() -> dict[str, object]:
    from pandas._config import config

    return {key: option.defval for key, option in config._registered_options.items()}


def _set_pandas_options(options: dict[str, object]) -> None:
    import pandas

    for key, value in options.items():
        pandas.set_option(key, value)


def _parameters() -> dict[str, object]:
    import matplotlib

    return {key: matplotlib.rcParams._get(key) for key in matplotlib.rcParams if key not in _SKIPPED_PARAMETERS}


def _default_parameters() -> dict[str, object]:
    import matplotlib

    return dict(matplotlib.rcParamsDefault)


def _set_parameters(parameters: dict[str, object]) -> None:
    import matplotlib

    matplotlib.rcParams.update(parameters)


# By name, which starts with the module: how options are read and set.
_OPTIONS: dict[str, tuple[Callable[[], dict[str, object]], Callable[[dict[str, object]], None]]] = {
    "pandas options": (_pandas_options, _set_pandas_options),
    "matplotlib parameters": (_parameters, _set_parameters),
}
_DEFAULTS: dict[str, Callable[[], dict[str, object]]] = {
    "pandas options": _pandas_defaults,
    "matplotlib parameters": _default_parameters,
}


def _temporary_files() -> Iterator[str]:
    for folder in _TEMPORARY_FOLDERS:
        for path, folders, files in os.walk(folder):
            folders[:] = [name for name in folders if os.path.join(path, name) not in _OWN_ENTRIES]
            for name in files:
                whole = os.path.join(path, name)
                if os.path.isfile(whole) and not os.path.islink(whole):
                    yield whole


def _pack_files(lost: Lost) -> bytes | None:
    """Files in /tmp and the home folder as one archive; those beyond the limits are named."""
    archive = io.BytesIO()
    left, count, refused = _MAX_FILE_BYTES, 0, []
    with tarfile.open(fileobj=archive, mode="w") as packed:
        for path in _temporary_files():
            try:
                size = os.path.getsize(path)
                if size > left or count >= _MAX_FILES:
                    refused.append(path)
                    continue
                packed.add(path, arcname=path, recursive=False)
            except OSError:
                refused.append(path)
                continue
            left -= size
            count += 1
    for path in refused[:_MAX_NAMED_FILES]:
        lost.append({"what": f"file {path}", "reason": f"More than {_MAX_FILE_BYTES} bytes or {_MAX_FILES} files outside /mnt/data are not kept."})
    if len(refused) > _MAX_NAMED_FILES:
        lost.append({"what": "temporary files", "reason": f"{len(refused) - _MAX_NAMED_FILES} more files outside /mnt/data are not kept."})
    return archive.getvalue() if count else None


def _unpack_files(archive: bytes) -> None:
    with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
        packed.extractall("/", filter="tar")
