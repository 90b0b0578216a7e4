"""Extracts the data of a matplotlib figure from its artists: lines, bars, points, slices and heatmaps with numbers, titles and axes."""

import math
from typing import Any

from .chart_data import MAX_CHARTS, MAX_POINTS, MAX_TEXT_CHARACTERS, chart, downsample
from .matplotlib_axes import category, data_values, describe_axis, label_of, legend_name, line_values, tick_names

# Filled areas without numbers, such as violins.
_SHAPES = ("PolyCollection", "FillBetweenPolyCollection", "PatchCollection")


def describe(figure: Any) -> dict[str, object] | None:
    """One chart for each pair of axes with readable data; None without any."""
    charts = [found for axes in figure.axes[:MAX_CHARTS] if (found := _chart(axes)) is not None]
    if not charts:
        return None
    total = sum(len(series.get("values", series.get("y", series.get("boxes", ())))) for one in charts for series in one["series"])
    step = max(1, math.ceil(total / MAX_POINTS))
    for one in charts:
        for series in one["series"]:
            downsample(series, step)
    title = getattr(figure, "_suptitle", None)
    return {"title": _text(title), "charts": charts}


def _chart(axes: Any) -> dict[str, Any] | None:
    # The scale of a heatmap's colours is a heatmap too.
    if hasattr(axes, "_colorbar"):
        return None
    series, unread = _series_in_space(axes) if axes.name == "3d" else _series(axes)
    sides = {"x": axes.xaxis, "y": axes.yaxis, **({"z": axes.zaxis} if axes.name == "3d" else {})}
    named = {_named_side(one) for one in series}
    return chart(
        series,
        {type(one).__name__ for one in unread},
        title=_text(axes.title) or _text(axes._left_title) or _text(axes._right_title),
        is_drawn=axes.has_data(),
        **{
            name: {"label": _text(axis.label), **describe_axis(axis), **({"scale": "categorical"} if name in named else {})}
            for name, axis in sides.items()
        },
    )


def _series_in_space(axes: Any) -> tuple[list[dict[str, Any]], list[Any]]:
    from . import matplotlib_spaces

    series, artists = matplotlib_spaces.read(axes)
    return series, _others([*axes.lines, *axes.collections, *axes.patches, *axes.images], artists)


def _series(axes: Any) -> tuple[list[dict[str, Any]], list[Any]]:
    """The series, and the artists that could not be read."""
    from . import matplotlib_statistics as statistics

    heatmaps, pictures = _heatmaps(axes)
    boxes, of_boxes = statistics.boxes(axes)
    errors, of_errors = statistics.error_bars(axes)
    stems = statistics.stems(axes)
    lines = _others(axes.lines, [*of_boxes, *of_errors, *stems])
    bars, of_bars = _bars(axes, lines)
    lines = _others(lines, of_bars)
    # The lines inside violins are not data.
    has_shapes = any(type(one).__name__ in _SHAPES for one in axes.collections)
    inner = [line for line in lines if has_shapes and label_of(line) is None and _is_mark(line)]
    wedges = [patch for patch in axes.patches if type(patch).__name__ == "Wedge"]
    points = [one for one in axes.collections if type(one).__name__ in ("PathCollection", "QuadMesh")]
    # seaborn adds patches without a size for its legends.
    empty = [one for one in axes.patches if type(one).__name__ == "Rectangle" and one.get_width() == one.get_height() == 0]
    read = [*of_boxes, *of_errors, *of_bars, *stems, *wedges, *points, *empty]
    series = [*bars, *boxes, *_pie_slices(wedges), *heatmaps, *errors, *_lines(axes, _others(lines, inner)), *_scatters(axes)]
    return series, [*pictures, *_others([*axes.collections, *axes.patches], read)]


def _others(artists: Any, known: list[Any]) -> list[Any]:
    identities = {id(one) for one in known}
    return [one for one in artists if id(one) not in identities]


def _is_mark(line: Any) -> bool:
    """A point, or a straight line along an axis."""
    x, y = line.get_xdata(), line.get_ydata()
    return len(x) == 1 or len(x) == 2 and (x[0] == x[1] or y[0] == y[1])


def _named_side(series: dict[str, Any]) -> str | None:
    """The axis whose places have names, such as those of bars."""
    names = series.get("categories", ())
    if series["kind"] != "box" and not (series["kind"] == "bar" and names and all(isinstance(name, str) for name in names)):
        return None
    return "x" if series["orientation"] == "vertical" else "y"


def _heatmaps(axes: Any) -> tuple[list[dict[str, Any]], list[Any]]:
    """Their series, and the pictures and meshes that have none."""
    found = [*axes.images, *(one for one in axes.collections if type(one).__name__ == "QuadMesh")]
    if not found:
        return [], []
    # It takes memory only where a figure has one.
    from . import matplotlib_matrices

    return matplotlib_matrices.read(axes, found)


def _lines(axes: Any, lines: list[Any]) -> list[dict[str, Any]]:
    from .matplotlib_statistics import add_errors_of_points

    found: list[dict[str, Any]] = []
    errors: list[Any] = []
    for line in lines:
        if any(line is error for error in errors):
            continue
        x, y = line.get_xdata(orig=True), line.get_ydata(orig=True)
        # Horizontal and vertical markers have axes coordinates, not data.
        if len(x) != len(y) or len(x) == 0 or line.get_transform() != axes.transData:
            continue
        has_line = line.get_linestyle() not in ("None", "", " ", None)
        kind = "line" if has_line else "scatter"
        named = {"x": line_values(axes.xaxis, x), "y": line_values(axes.yaxis, y)}
        series = {"kind": kind, "label": label_of(line), "points": len(x), **named}
        if len(lines) > 1 and len(x) <= MAX_POINTS:
            places = list(zip(map(float, line.get_xdata(orig=False)), map(float, line.get_ydata(orig=False)), strict=True))
            errors += add_errors_of_points(_others(lines, [line, *errors]), series, places) if line.get_marker() not in ("None", "", " ", None) else []
        found.append(series)
    return found


def _scatters(axes: Any) -> list[dict[str, Any]]:
    found = []
    for points in axes.collections:
        if type(points).__name__ != "PathCollection":
            continue
        offsets = points.get_offsets()
        if len(offsets) == 0:
            continue
        x, y = data_values(axes.xaxis, offsets[:, 0]), data_values(axes.yaxis, offsets[:, 1])
        found.append({"kind": "scatter", "label": label_of(points), "points": len(offsets), "x": x, "y": y})
    return found


def _bars(axes: Any, lines: list[Any]) -> tuple[list[dict[str, Any]], list[Any]]:
    """The series, and the bars with the lines of their errors."""
    from .matplotlib_statistics import add_errors_of_bars

    found, artists = [], []
    for container in axes.containers:
        if type(container).__name__ != "BarContainer" or len(container.patches) == 0:
            continue
        is_upright = container.orientation != "horizontal"
        axis = axes.xaxis if is_upright else axes.yaxis
        spans = [
            (bar.get_x(), bar.get_width(), bar.get_y(), bar.get_height())
            if is_upright
            else (bar.get_y(), bar.get_height(), bar.get_x(), bar.get_width())
            for bar in container.patches
        ]
        names = tick_names(axis)
        series: dict[str, Any] = {
            "kind": "bar",
            "label": label_of(container) or legend_name(axes, container.patches[0]),
            "orientation": "vertical" if is_upright else "horizontal",
            "points": len(spans),
            "categories": [category(axis, names, start + width / 2, width) for start, width, _, _ in spans],
            "values": [length for _, _, _, length in spans],
        }
        if any(base for _, _, base, _ in spans):
            series["base"] = [base for _, _, base, _ in spans]
        if not any(isinstance(category, str) for category in series["categories"]):
            series["from"] = data_values(axis, [start for start, _, _, _ in spans])
            series["to"] = data_values(axis, [start + width for start, width, _, _ in spans])
        artists += [*container.patches, *add_errors_of_bars(container, series, [(start, width) for start, width, _, _ in spans], lines)]
        found.append(series)
    return found, artists


def _pie_slices(wedges: list[Any]) -> list[dict[str, Any]]:
    if not wedges:
        return []
    labels = [label_of(wedge) for wedge in wedges]
    # Angles have seven digits.
    shares = [round(float(wedge.theta2 - wedge.theta1) / 360, 6) for wedge in wedges]
    return [{"kind": "pie", "label": None, "points": len(wedges), "categories": labels, "values": shares}]


def _text(artist: Any) -> str | None:
    text = "" if artist is None else artist.get_text()
    return text[:MAX_TEXT_CHARACTERS] if text else None
