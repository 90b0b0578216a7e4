"""Keeps the numbers of matplotlib's box plots with their axes. Afterwards a box is only lines."""

import functools
import types
from typing import Any

from ..charts.matplotlib_axes import BOXES


def keep_statistics(module: types.ModuleType, _shell: object) -> None:
    axes: Any = module.Axes  # type: ignore[attr-defined]
    draw = axes.bxp

    @functools.wraps(draw)
    def draw_and_keep(self: Any, *arguments: Any, **options: Any) -> Any:
        artists = draw(self, *arguments, **options)
        statistics = arguments[0] if arguments else options["bxpstats"]
        vars(self).setdefault(BOXES, []).append((list(statistics), artists))
        return artists

    axes.bxp = draw_and_keep
