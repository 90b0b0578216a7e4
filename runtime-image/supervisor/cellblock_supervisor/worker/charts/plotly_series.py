"""Reads the data of one trace of a Plotly figure as a series of `chart_data`: points, bars, shares, cells of a matrix, links, rows of a table."""

import base64
from collections.abc import Callable
from typing import Any

from .box_numbers import box_series

Series = dict[str, Any]

# A larger matrix or table is described by its first cells and its size.
_MAX_CELLS = 20_000
MATRICES = frozenset(("heatmap", "contour", "surface", "histogram2dcontour", "histogram2d"))


def read(trace: dict[str, Any]) -> Series | None:
    """None for a trace without readable numbers. Raises what its hostile values raise."""
    kind = kind_of(trace)
    for kinds, make in _READERS:
        if kind in kinds and (found := make(trace)) is not None:
            return {"kind": kind, "label": trace.get("name") or None, **found}
    series = points(trace)
    return series if series is None else {**series, **errors(trace, series)}


def kind_of(trace: dict[str, Any]) -> str:
    return str(trace.get("type") or "scatter")


def points(trace: dict[str, Any]) -> Series | None:
    """Traces along two axes."""
    kind, label = kind_of(trace), trace.get("name") or None
    x, y = values(trace.get("x")), values(trace.get("y"))
    if x is None and y is None:
        return None
    if kind == "bar":
        is_upright = trace.get("orientation") != "h"
        names, lengths = (x, y) if is_upright else (y, x)
        lengths = lengths or []
        names = names or list(range(len(lengths)))
        orientation = "vertical" if is_upright else "horizontal"
        return {"kind": "bar", "label": label, "orientation": orientation, "points": len(lengths), "categories": names, "values": lengths}
    known = y if y is not None else x
    shape = "line" if kind.startswith("scatter") and "lines" in str(trace.get("mode", "lines")) else kind.removesuffix("gl")
    return {"kind": shape, "label": label, "points": len(known or []), "x": x if x is not None else list(range(len(known or []))), "y": y or []}


def values(array: Any) -> list[Any] | None:
    """A list, or Plotly's typed array: `{"dtype", "bdata", "shape"}`."""
    if array is None:
        return None
    if isinstance(array, dict) and "bdata" in array:
        import numpy

        flat = numpy.frombuffer(base64.b64decode(array["bdata"]), dtype=array["dtype"])
        shape = str(array.get("shape", "")).replace(" ", "")
        return list((flat.reshape([int(part) for part in shape.split(",")]) if shape else flat).tolist())
    return list(array)


def _named(categories: list[Any], numbers: list[Any]) -> Series:
    return {"points": len(numbers), "categories": categories, "values": numbers}


def _shares(trace: dict[str, Any]) -> Series | None:
    numbers = values(trace.get("values"))
    return None if numbers is None else {"kind": "pie", **_named(values(trace.get("labels")) or [], numbers)}


def _matrix(trace: dict[str, Any]) -> Series | None:
    """Each cell is named by its row and column."""
    rows = values(trace.get("z"))
    if rows is None or not all(isinstance(row, (list, tuple)) for row in rows):
        return None
    width = max((len(row) for row in rows), default=0)
    columns, names = values(trace.get("x")) or list(range(width)), values(trace.get("y")) or list(range(len(rows)))
    cells = [(f"{name}, {column}", cell) for name, row in zip(names, rows, strict=False) for column, cell in zip(columns, row, strict=False)]
    shown = cells[:_MAX_CELLS]
    return {**_named([name for name, _ in shown], [cell for _, cell in shown]), "points": len(cells)}


def _links(trace: dict[str, Any]) -> Series | None:
    link = trace.get("link") or {}
    sources, targets, amounts = values(link.get("source")), values(link.get("target")), values(link.get("value"))
    if sources is None or targets is None or amounts is None:
        return None
    labels = values((trace.get("node") or {}).get("label")) or []

    def name(node: Any) -> Any:
        return labels[node] if isinstance(node, int) and 0 <= node < len(labels) else node

    return _named([f"{name(source)} → {name(target)}" for source, target in zip(sources, targets, strict=False)], amounts)


def _polar(trace: dict[str, Any]) -> Series | None:
    radii = values(trace.get("r"))
    return None if radii is None else _named(values(trace.get("theta")) or list(range(len(radii))), radii)


def _indicator(trace: dict[str, Any]) -> Series | None:
    reference = (trace.get("delta") or {}).get("reference")
    shown = {"value": trace.get("value"), "reference": reference}
    known = {name: number for name, number in shown.items() if number is not None}
    return _named(list(known), list(known.values())) if known else None


def _table(trace: dict[str, Any]) -> Series | None:
    """One text for each row: `header: value; header: value`."""
    columns = [values(column) or [] for column in values((trace.get("cells") or {}).get("values")) or []]
    return _rows(values((trace.get("header") or {}).get("values")) or [], columns)


def _dimensions(trace: dict[str, Any]) -> Series | None:
    parts = values(trace.get("dimensions")) or []
    return _rows([part.get("label") for part in parts], [values(part.get("values")) or [] for part in parts])


def _rows(names: list[Any], columns: list[list[Any]]) -> Series | None:
    if not columns:
        return None
    names = [*names, *range(len(names), len(columns))]
    length = max(len(column) for column in columns)
    rows = [
        "; ".join(f"{name}: {column[at]}" for name, column in zip(names, columns, strict=False) if at < len(column))
        for at in range(min(length, _MAX_CELLS // len(columns)))
    ]
    return {**_named(list(range(len(rows))), rows), "points": length}


def _prices(trace: dict[str, Any]) -> Series | None:
    """One text for each day: `x: 2024-01-01; open: 1; high: 3; low: 0; close: 2`."""
    names = ("x", "open", "high", "low", "close")
    known = {name: found for name in names if (found := values(trace.get(name))) is not None}
    return _rows(list(known), list(known.values()))


def _regions(trace: dict[str, Any]) -> Series | None:
    numbers = values(trace.get("z"))
    return None if numbers is None else _named(values(trace.get("locations")) or list(range(len(numbers))), numbers)


def _places(trace: dict[str, Any]) -> Series | None:
    latitudes, longitudes = values(trace.get("lat")), values(trace.get("lon"))
    if latitudes is None or longitudes is None:
        return None
    return {"points": len(latitudes), "x": longitudes, "y": latitudes}


def _boxes(trace: dict[str, Any]) -> Series | None:
    """From the values, or the numbers of the boxes themselves."""
    is_upright = trace.get("orientation") != "h" if "orientation" in trace else trace.get("y") is not None or trace.get("x") is None
    orientation = "vertical" if is_upright else "horizontal"
    names, numbers = (values(trace.get(name)) for name in (("x", "y") if is_upright else ("y", "x")))
    medians = values(trace.get("median"))
    if medians is not None:
        fields = {"min": "lowerfence", "q1": "q1", "median": "median", "q3": "q3", "max": "upperfence"}
        known = {name: values(trace.get(written)) or [None] * len(medians) for name, written in fields.items()}
        labels = [str(name) for name in names or range(len(medians))]
        boxes = [{"label": label, **{name: column[at] for name, column in known.items()}} for at, label in enumerate(labels[: len(medians)])]
        return {"kind": "box", "orientation": orientation, "points": len(boxes), "boxes": boxes}
    if numbers is None:
        return None
    groups: dict[Any, list[Any]] = {}
    for name, number in zip(names or [trace.get("name") or ""] * len(numbers), numbers, strict=False):
        groups.setdefault(name, []).append(number)
    return box_series(groups, orientation, shift=0.5)


def errors(trace: dict[str, Any], series: Series) -> Series:
    """The lower and the upper end of the errors of points and bars, beside their values."""
    found: Series = {}
    for name, prefix in (("y", ""), ("x", "x_")):
        numbers = series.get(name) or (series.get("values") if _is_length(series, name) else None)
        error = trace.get(f"error_{name}") or {}
        if not numbers or error.get("visible") is False:
            continue
        above = _error_lengths(error, numbers, "array", "value")
        below = _error_lengths(error, numbers, "arrayminus", "valueminus") if error.get("symmetric") is False or "arrayminus" in error else above
        if above is not None and below is not None:
            prefix = "" if "values" in series else prefix
            found[f"{prefix}low"] = [number - length for number, length in zip(numbers, below, strict=False)]
            found[f"{prefix}high"] = [number + length for number, length in zip(numbers, above, strict=False)]
    return found


def _is_length(series: Series, name: str) -> bool:
    return series.get("kind") == "bar" and (name == "y") == (series.get("orientation") == "vertical")


def _error_lengths(error: dict[str, Any], numbers: list[Any], array: str, value: str) -> list[float] | None:
    kind = error.get("type", "data" if array in error else "percent")
    if kind == "data":
        return values(error.get(array))
    if value not in error:
        return None
    size = float(error[value])
    return [abs(number) * size / 100 if kind == "percent" else size for number in numbers] if kind in ("percent", "constant") else None


def _corners(trace: dict[str, Any]) -> Series | None:
    """Points of a triangle and in space have three coordinates."""
    for names in (("a", "b", "c"), ("x", "y", "z")):
        columns = [values(trace.get(name)) for name in names]
        if all(column is not None for column in columns):
            return _rows(list(names), [column or [] for column in columns])
    return None


_READERS: tuple[tuple[frozenset[str], Callable[[dict[str, Any]], Series | None]], ...] = (
    (frozenset(("pie", "treemap", "sunburst", "icicle", "funnelarea")), _shares),
    (MATRICES, _matrix),
    (frozenset(("box",)), _boxes),
    (frozenset(("sankey",)), _links),
    (frozenset(("scatterpolar", "scatterpolargl", "barpolar")), _polar),
    (frozenset(("indicator",)), _indicator),
    (frozenset(("table",)), _table),
    (frozenset(("candlestick", "ohlc")), _prices),
    (frozenset(("parcats", "parcoords", "splom")), _dimensions),
    (frozenset(("choropleth", "choroplethmap")), _regions),
    (frozenset(("scattergeo", "scattermap", "densitymap")), _places),
    (frozenset(("scatterternary", "scatter3d", "mesh3d")), _corners),
)
