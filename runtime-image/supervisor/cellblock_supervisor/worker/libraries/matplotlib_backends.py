"""Backends of matplotlib that scripts choose: `plt.show()` under Agg shows the figures as the inline backend does, and backends with windows become inline."""

import functools
import os
import types
from typing import Any

from ..displays import figure_texts

_INLINE = "module://matplotlib_inline.backend_inline"
_WINDOW_BACKENDS = frozenset(
    ("tkagg", "tkcairo", "qtagg", "qtcairo", "qt5agg", "qt5cairo", "qt4agg", "gtk3agg", "gtk3cairo", "gtk4agg", "gtk4cairo", "wxagg", "wxcairo", "macosx")
)


# The default, 6, makes figures 1 % smaller and takes a sixth of the time of encoding them.
_COMPRESSION = {"compress_level": 4}


def draw_figures(_module: types.ModuleType, shell: Any) -> None:
    # The inline backend replaces this when it is chosen, with the formats of its configuration.
    shell.display_formatter.formatters["image/png"].for_type_by_name("matplotlib.figure", "Figure", _draw)


def replace_windows(module: types.ModuleType, _shell: object) -> None:
    """`matplotlib.use("TkAgg")` and the like, where there is no display."""
    use = module.use  # type: ignore[attr-defined]

    @functools.wraps(use)
    def use_or_inline(backend: object, *arguments: object, **options: object) -> None:
        needs_display = str(backend).lower() in _WINDOW_BACKENDS and "DISPLAY" not in os.environ
        use(_INLINE if needs_display else backend, *arguments, **options)

    module.use = use_or_inline  # type: ignore[attr-defined]


def compress_faster(module: types.ModuleType, _shell: object) -> None:
    """For displayed pictures. Files that code saves keep the compression that it chose."""
    print_figure = module.print_figure  # type: ignore[attr-defined]

    @functools.wraps(print_figure)
    def print_compressed(figure: object, fmt: str = "png", *arguments: object, **options: object) -> object:
        # Canvases of other kinds do not know the option.
        if fmt in ("png", "retina") and hasattr(figure.canvas, "buffer_rgba"):  # type: ignore[attr-defined]
            options = {"pil_kwargs": _COMPRESSION, **options}
        return figure_texts.draw(figure, lambda: print_figure(figure, fmt, *arguments, **options))

    module.print_figure = print_compressed  # type: ignore[attr-defined]


def _draw(figure: object) -> object:
    from IPython.core.pylabtools import print_figure

    return print_figure(figure, fmt="png", base64=True)


def add_show(module: types.ModuleType, _shell: object) -> None:
    module.show = _show  # type: ignore[attr-defined]


def _show(*_arguments: object, **_options: object) -> None:
    from IPython.display import display
    from matplotlib._pylab_helpers import Gcf

    try:
        for manager in Gcf.get_all_fig_managers():
            display(manager.canvas.figure)
    finally:
        Gcf.destroy_all()
