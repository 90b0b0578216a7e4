"""`plt.pause`: shows the state of the open figures, in one display per figure that is updated, and keeps them open.

The inline backend would close them, so that the next state is drawn on an empty figure.
"""

import functools
import time
import types
import weakref
from typing import Any

_SECONDS_BETWEEN_UPDATES = 1.0
_MAX_UPDATES = 20


class _Display:
    def __init__(self, handle: Any) -> None:
        self.handle = handle
        self.updates = 0
        self.updated_at = time.monotonic()


_displays: weakref.WeakKeyDictionary[Any, _Display] = weakref.WeakKeyDictionary()


def follow_cells(_module: types.ModuleType, shell: Any) -> None:
    shell.events.register("pre_execute", _displays.clear)
    shell.events.register("post_execute", _show_last_states)


def replace_pause(module: types.ModuleType, _shell: object) -> None:
    @functools.wraps(module.pause)  # type: ignore[attr-defined]
    def pause(interval: float) -> None:
        for figure in _open_figures():
            _show(figure)
        time.sleep(interval)

    module.pause = pause  # type: ignore[attr-defined]


def _open_figures() -> list[Any]:
    from matplotlib._pylab_helpers import Gcf

    return [manager.canvas.figure for manager in Gcf.get_all_fig_managers()]


def _show(figure: Any) -> None:
    from IPython.display import display

    shown = _displays.get(figure)
    if shown is None:
        if figure.axes:
            _displays[figure] = _Display(display(figure, display_id=True))
    elif shown.updates < _MAX_UPDATES and time.monotonic() - shown.updated_at >= _SECONDS_BETWEEN_UPDATES:
        shown.updates += 1
        shown.handle.update(figure)
        shown.updated_at = time.monotonic()


def _show_last_states() -> None:
    """Before the backend shows the figures of the cell. A figure that did not change since its last update is not sent."""
    if not _displays:
        return
    for figure in _open_figures():
        if figure in _displays:
            _displays[figure].handle.update(figure)
