"""What the representations of a displayed object lack or have too much: figures once, a PNG beside SVG, and no empty figures."""

import contextlib
import weakref
from collections.abc import Iterator
from typing import Any

from . import figure_texts, svg_pictures

_Bundle = tuple[dict[str, Any], dict[str, Any]]
_PICTURES = ("image/png", "image/jpeg", "image/svg+xml")


class DisplayFormat:
    """Takes the place of the formatter's `format`."""

    def __init__(self, shell: Any) -> None:
        formatter = shell.display_formatter
        self.is_formatting = False
        self._format = formatter.format
        # The picture that each figure was last shown with in this cell.
        self._shown: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._is_ending = False
        formatter.format = self._complete
        shell.events.register("pre_execute", self._begin)
        # The inline backend registers its own, which shows the figures of the cell, later: the first figure loads it.
        shell.events.register("post_execute", self._end)
        shell.events.register("post_run_cell", self._ended)

    def _begin(self) -> None:
        self._is_ending = False
        self._shown.clear()

    def _end(self) -> None:
        self._is_ending = True
        with contextlib.suppress(Exception):
            figure_texts.simplify_open_figures()

    def _ended(self, _result: object) -> None:
        self._is_ending = False

    def _complete(self, obj: Any, include: Any = None, exclude: Any = None) -> _Bundle:
        figure = obj if is_figure(obj) else None
        # An empty one has its background only.
        if figure is not None and len(figure.get_children()) <= 1:
            return {}, {}
        outer, self.is_formatting = self.is_formatting, True
        try:
            with _counted_as_drawn(figure):
                data, metadata = self._format(obj, include=include, exclude=exclude)
        finally:
            self.is_formatting = outer
        if include is None and exclude is None:
            with contextlib.suppress(Exception):
                svg_pictures.add_png(data, figure)
        return ({}, {}) if figure is not None and self._is_repetition(figure, data) else (data, metadata)

    def _is_repetition(self, figure: Any, data: dict[str, Any]) -> bool:
        """Whether the end of the cell shows a figure again that the cell itself showed, without a change since then."""
        picture = next((data[mime] for mime in _PICTURES if mime in data), None)
        if picture is None:
            return False
        shown = hash(picture)
        if self._is_ending and self._shown.get(figure) == shown:
            return True
        self._shown[figure] = shown
        return False


@contextlib.contextmanager
def _counted_as_drawn(figure: Any) -> Iterator[None]:
    """IPython takes a figure that has neither axes nor lines for an empty one. It may have texts, pictures or patches."""
    if figure is None or figure.axes or figure.lines:
        yield
        return
    from matplotlib.lines import Line2D

    # Between the corners, so that pictures, which have no extent, stay inside.
    line = Line2D([0, 1], [0, 1], alpha=0, transform=figure.transFigure)
    line.set_figure(figure)
    figure.lines.append(line)
    try:
        yield
    finally:
        figure.lines.remove(line)


def is_figure(obj: object) -> bool:
    return any(cls.__module__ == "matplotlib.figure" and cls.__name__ == "Figure" for cls in type(obj).__mro__)
