"""Output areas of ipywidgets, and live displays of rich, which use them.

Both clear their own area again and again. There is one list of outputs here, so such a clear would erase what the cell displayed before.
"""

import functools
import types
from typing import Any

_open_areas = 0


def is_open() -> bool:
    """Whether output goes to an area of a widget now."""
    return _open_areas > 0


def count_areas(module: types.ModuleType, _shell: object) -> None:
    area: Any = module.Output  # type: ignore[attr-defined]
    enter, leave = area.__enter__, area.__exit__

    @functools.wraps(enter)
    def enter_and_count(self: Any) -> Any:
        global _open_areas
        _open_areas += 1
        return enter(self)

    @functools.wraps(leave)
    def leave_and_count(self: Any, *error: Any) -> Any:
        global _open_areas
        _open_areas -= 1
        return leave(self, *error)

    area.__enter__, area.__exit__ = enter_and_count, leave_and_count


def print_plainly(module: types.ModuleType, _shell: object) -> None:
    """As in a program without a terminal: text without colours, and of a live display its last state."""
    console: Any = module.Console  # type: ignore[attr-defined]
    construct = console.__init__

    @functools.wraps(construct)
    def construct_plain(self: Any, **options: Any) -> None:
        if options.get("force_jupyter") is None:
            options["force_jupyter"] = False
        construct(self, **options)

    console.__init__ = construct_plain
