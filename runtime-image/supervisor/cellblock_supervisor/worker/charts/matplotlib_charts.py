"""Extracts the data of a matplotlib figure from its artists: lines, bars, points, slices and heatmaps with numbers, titles and axes."""

import math
from typing import Any

from .chart_data import MAX_CHARTS, MAX_POINTS, MAX_SERIES, MAX_TEXT_CHARACTERS, downsample
from .matplotlib_axes import category, data_values, describe_axis, label_of, tick_names


def describe(figure: Any) -> dict[str, object] | None:
    """One chart for each pair of axes with readable data; None without any."""
    charts = [chart for axes in figure.axes[:MAX_CHARTS] if (chart := _chart(axes)) is not None]
    if not charts:
        return None
    total = sum(len(series.get("values", series.get("y", ()))) for chart in charts for series in chart["series"])
    step = max(1, math.ceil(total / MAX_POINTS))
    for chart in charts:
        for series in chart["series"]:
            downsample(series, step)
    title = getattr(figure, "_suptitle", None)
    return {"title": _text(title), "charts": charts}


def _chart(axes: Any) -> dict[str, Any] | None:
    # The scale of a heatmap's colours is a heatmap too.
    if hasattr(axes, "_colorbar"):
        return None
    heatmaps, pictures = _heatmaps(axes)
    series = [*_bars(axes), *_pie_slices(axes), *heatmaps, *_lines(axes), *_scatters(axes)]
    if not series and not axes.has_data():
        return None
    kinds = {one["kind"] for one in series}
    return {
        "kind": kinds.pop() if len(kinds) == 1 else "mixed" if kinds else "unknown",
        "title": _text(axes.title) or _text(axes._left_title) or _text(axes._right_title),
        "x": {"label": _text(axes.xaxis.label), **describe_axis(axes.xaxis)},
        "y": {"label": _text(axes.yaxis.label), **describe_axis(axes.yaxis)},
        "series": series[:MAX_SERIES],
        # Types of artists without readable numbers: pictures, fills, contours.
        "unread": sorted({type(one).__name__ for one in (*pictures, *_unsupported(axes))}),
    }


def _heatmaps(axes: Any) -> tuple[list[dict[str, Any]], list[Any]]:
    """Their series, and the pictures and meshes that have none."""
    found = [*axes.images, *(one for one in axes.collections if type(one).__name__ == "QuadMesh")]
    if not found:
        return [], []
    # It takes memory only where a figure has one.
    from . import matplotlib_matrices

    return matplotlib_matrices.read(axes, found)


def _lines(axes: Any) -> list[dict[str, Any]]:
    found = []
    for line in axes.lines:
        x, y = line.get_xdata(orig=True), line.get_ydata(orig=True)
        # Horizontal and vertical markers have axes coordinates, not data.
        if len(x) != len(y) or len(x) == 0 or line.get_transform() != axes.transData:
            continue
        has_line = line.get_linestyle() not in ("None", "", " ", None)
        kind = "line" if has_line else "scatter"
        found.append({"kind": kind, "label": label_of(line), "points": len(x), "x": x, "y": y})
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


def _bars(axes: Any) -> list[dict[str, Any]]:
    found = []
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
            "label": label_of(container),
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
        found.append(series)
    return found


def _pie_slices(axes: Any) -> list[dict[str, Any]]:
    wedges = [patch for patch in axes.patches if type(patch).__name__ == "Wedge"]
    if not wedges:
        return []
    labels = [label_of(wedge) for wedge in wedges]
    shares = [(wedge.theta2 - wedge.theta1) / 360 for wedge in wedges]
    return [{"kind": "pie", "label": None, "points": len(wedges), "categories": labels, "values": shares}]


def _unsupported(axes: Any) -> list[object]:
    return [one for one in axes.collections if type(one).__name__ not in ("PathCollection", "QuadMesh")]


def _text(artist: Any) -> str | None:
    text = "" if artist is None else artist.get_text()
    return text[:MAX_TEXT_CHARACTERS] if text else None
