"""Reads heatmaps of matplotlib, `imshow` and `pcolormesh`, as series. Each cell is named by its row and column, as in those of Plotly."""

import itertools
import math
from typing import Any

from .chart_data import json_value
from .matplotlib_axes import category, label_of, tick_names

# A larger matrix is described by its shape and its smallest and largest value.
_MAX_CELLS = 400
# Cells that are copied at once: a matrix can have the size of the free memory.
_BLOCK_CELLS = 1_000_000


def read(axes: Any, artists: list[Any]) -> tuple[list[dict[str, Any]], list[Any]]:
    """The series of those with one number per cell, and the others: a picture has colours instead."""
    matrices = [one for one in artists if _is_matrix(one)]
    series = [found for one in matrices if (found := _series(axes, one)) is not None]
    return series, [one for one in artists if not _is_matrix(one)]


def _is_matrix(artist: Any) -> bool:
    return getattr(artist.get_array(), "ndim", 0) == 2


def _series(axes: Any, artist: Any) -> dict[str, Any] | None:
    import numpy

    array = numpy.ma.asarray(artist.get_array())
    if array.size == 0 or array.dtype.kind not in "biuf":
        return None
    rows, columns = array.shape
    smallest, largest = _range(array)
    series = {
        "kind": "heatmap",
        "label": label_of(artist),
        "points": rows * columns,
        "shape": [rows, columns],
        "min": smallest,
        "max": largest,
        "categories": [],
        "values": [],
    }
    if array.size <= _MAX_CELLS:
        at_columns, at_rows = _centres(artist, rows, columns)
        names, titles = _names(axes.yaxis, at_rows), _names(axes.xaxis, at_columns)
        series["categories"] = [f"{name}, {title}" for name in names for title in titles]
        series["values"] = [value if math.isfinite(value) else None for value in array.astype(float).filled(math.nan).ravel().tolist()]
    return series


def _range(array: Any) -> tuple[object, object]:
    """The smallest and the largest finite value, or None twice."""
    import numpy

    rows, columns = array.shape
    width = min(columns, _BLOCK_CELLS)
    height = _BLOCK_CELLS // width
    ends: list[Any] = []
    for top, left in itertools.product(range(0, rows, height), range(0, columns, width)):
        known = array[top : top + height, left : left + width].compressed()
        known = known[numpy.isfinite(known)]
        if known.size:
            ends += [known.min(), known.max()]
    return (json_value(min(ends)), json_value(max(ends))) if ends else (None, None)


def _centres(artist: Any, rows: int, columns: int) -> tuple[list[float], list[float]]:
    """Of the columns and of the rows, on the axes."""
    if hasattr(artist, "get_coordinates"):
        corners = artist.get_coordinates()
        return _between(corners[0, :, 0].tolist(), columns), _between(corners[:, 0, 1].tolist(), rows)
    left, right, bottom, top = artist.get_extent()
    first, last = (top, bottom) if artist.origin == "upper" else (bottom, top)
    return _parts(left, right, columns), _parts(first, last, rows)


def _parts(first: float, last: float, count: int) -> list[float]:
    return [float(first + (at + 0.5) * (last - first) / count) for at in range(count)]


def _between(edges: list[float], count: int) -> list[float]:
    """A mesh has the edges of its cells, or their centres where it is shaded smoothly."""
    return edges if len(edges) == count else [(one + other) / 2 for one, other in zip(edges, edges[1:], strict=False)]


def _names(axis: Any, places: list[float]) -> list[str]:
    ticks = tick_names(axis)
    found = [category(axis, ticks, place, 0) for place in places]
    return [f"{name:g}" if isinstance(name, float) else str(name) for name in found]
