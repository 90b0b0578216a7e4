"""Namespaces of one kernel beside its own: each has its variables, history, folder and sessions of other languages. Modules and their options are shared."""

import contextlib
import os
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ...config import DATA_DIR
from ..languages.language_session import LanguageSessions
from .cell_scope import ScopeError

MAX_CONTEXTS = 64


@dataclass
class _Namespace:
    module: types.ModuleType
    variables: dict[str, object]
    folder: str
    count: int = 1
    inputs: list[str] = field(default_factory=lambda: [""])
    raw_inputs: list[str] = field(default_factory=lambda: [""])
    outputs: dict[int, object] = field(default_factory=dict)


class Contexts:
    def __init__(self, shell: Any, languages: LanguageSessions) -> None:
        self._shell = shell
        self._languages = languages
        self._contexts: dict[str, tuple[_Namespace, LanguageSessions, frozenset[str]]] = {}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._contexts)

    @property
    def languages(self) -> tuple[LanguageSessions, ...]:
        """The sessions of all contexts, and those of the kernel's own namespace."""
        return (self._languages, *(languages for _, languages, _ in self._contexts.values()))

    @property
    def pids(self) -> frozenset[int]:
        """Of all sessions of other languages."""
        return frozenset().union(*(languages.pids for languages in self.languages))

    @contextlib.contextmanager
    def entered(self, name: str | None, folder: str | None) -> Iterator[LanguageSessions]:
        """The shell works in the context `name`, which begins in `folder`; in the kernel's own namespace for None. Raises ScopeError.

        A context without variables and sessions is forgotten at the end.
        """
        if name is None:
            yield self._languages
            return
        own = self._leave()
        known = self._contexts.get(name)
        try:
            if known is None:
                known = self._contexts[name] = self._begin(folder)
            else:
                self._enter(known[0])
            yield known[1]
        finally:
            if known is not None:
                left = self._leave()
                self._contexts[name] = (left, known[1], known[2])
                if _is_empty(left.variables, known[2]) and not known[1].pids and left.folder == known[0].folder:
                    del self._contexts[name]
            self._enter(own)

    def _begin(self, folder: str | None) -> tuple[_Namespace, LanguageSessions, frozenset[str]]:
        if len(self._contexts) >= MAX_CONTEXTS:
            raise ScopeError(f"The kernel has {MAX_CONTEXTS} contexts, the maximum. Remove one.")
        folder = folder or DATA_DIR
        try:
            os.chdir(folder)
        except OSError as error:
            raise ScopeError(f"The folder {folder!r} cannot be entered: {error.strerror}. Create it first.") from error
        module = types.ModuleType("__main__", "Automatically created module for IPython interactive environment")
        self._enter(_Namespace(module, module.__dict__, folder))
        self._shell.init_user_ns()
        return self._leave(), LanguageSessions(), frozenset(module.__dict__)

    def _leave(self) -> _Namespace:
        shell, history = self._shell, self._shell.history_manager
        try:
            folder = os.getcwd()
        except OSError:
            folder = DATA_DIR
        return _Namespace(
            shell.user_module,
            shell.user_ns,
            folder,
            shell.execution_count,
            history.input_hist_parsed,
            history.input_hist_raw,
            history.output_hist,
        )

    def _enter(self, namespace: _Namespace) -> None:
        shell, history = self._shell, self._shell.history_manager
        shell.user_module, shell.user_ns = namespace.module, namespace.variables
        sys.modules["__main__"] = namespace.module
        shell.execution_count = namespace.count
        history.input_hist_parsed, history.input_hist_raw = namespace.inputs, namespace.raw_inputs
        history.output_hist = namespace.outputs
        with contextlib.suppress(OSError):
            os.chdir(namespace.folder)


def _is_empty(variables: dict[str, object], first: frozenset[str]) -> bool:
    """Whether code has added no names. IPython adds names of its history, such as `_i1`."""
    return all(name in first or (type(name) is str and name.startswith("_")) for name in variables)
