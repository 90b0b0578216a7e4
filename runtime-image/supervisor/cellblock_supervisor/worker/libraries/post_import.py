"""Changes a module right after its import, or at once when it is imported already."""

import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Callable, Sequence


def after_import(name: str, change: Callable[[types.ModuleType], None]) -> None:
    module = sys.modules.get(name)
    waiting = next((finder for finder in sys.meta_path if isinstance(finder, _Finder) and finder.name == name), None)
    if module is not None:
        change(module)
    elif waiting is not None:
        waiting.changes.append(change)
    else:
        sys.meta_path.insert(0, _Finder(name, change))


class _Finder(importlib.abc.MetaPathFinder):
    """Finds one module, once."""

    def __init__(self, name: str, change: Callable[[types.ModuleType], None]) -> None:
        self.name = name
        self.changes = [change]

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self.name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module: types.ModuleType) -> None:
                execute(module)
                for change in self.changes:
                    change(module)

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec
