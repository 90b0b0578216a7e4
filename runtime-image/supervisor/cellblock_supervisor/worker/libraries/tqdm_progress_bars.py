"""Progress bars of `tqdm.auto` and `tqdm.notebook` are widgets. Here their line of text follows the progress, for readers that draw no widgets.

A bar that is not left behind (`leave=False`) would remain in the list of outputs, so it is not shown.
"""

import functools
import time
import types
import weakref
from typing import Any

_SECONDS_BETWEEN_UPDATES = 1.0


class _Shown:
    def __init__(self, handle: Any) -> None:
        self.handle = handle
        self.at = time.monotonic()
        self.n: object = None


_shown: weakref.WeakKeyDictionary[Any, _Shown] = weakref.WeakKeyDictionary()


def install(module: types.ModuleType, shell: Any) -> None:
    bar: Any = module.tqdm_notebook  # type: ignore[attr-defined]
    box: Any = module.TqdmHBox  # type: ignore[attr-defined]
    text = box.__repr__
    # Blocks instead of `#`, as in a terminal.
    box.__repr__ = lambda self, pretty=True: text(self, pretty)
    module.display = _show  # type: ignore[attr-defined]
    bar.display = _following(bar.display)
    bar.close = _ending(bar.close)
    # A bar that code does not close has its state at the end of the cell.
    shell.events.register("post_run_cell", _update_all)


def _show(container: Any, *_arguments: object, **_options: object) -> None:
    from IPython.display import display

    pbar = getattr(container, "pbar", None)
    if pbar is None:
        display(container)
    elif pbar.leave or pbar.leave is None:
        _shown[container] = _Shown(display(container, display_id=True))


def _update(container: Any) -> None:
    shown = _shown.get(container)
    if shown is not None:
        shown.at, shown.n = time.monotonic(), container.pbar.n
        shown.handle.update(container)


def _following(show_state: Any) -> Any:
    @functools.wraps(show_state)
    def show_and_update(self: Any, *arguments: Any, **options: Any) -> Any:
        answer = show_state(self, *arguments, **options)
        shown = _shown.get(self.container)
        if shown is not None and time.monotonic() - shown.at >= _SECONDS_BETWEEN_UPDATES:
            _update(self.container)
        return answer

    return show_and_update


def _ending(close: Any) -> Any:
    @functools.wraps(close)
    def close_and_update(self: Any, *arguments: Any, **options: Any) -> Any:
        was_open = not self.disable
        answer = close(self, *arguments, **options)
        if was_open:
            _update(self.container)
            _shown.pop(self.container, None)
        return answer

    return close_and_update


def _update_all(_result: object = None) -> None:
    for container, shown in list(_shown.items()):
        try:
            if container.pbar.n != shown.n:
                _update(container)
        except ReferenceError:
            # The bar itself is gone.
            del _shown[container]
