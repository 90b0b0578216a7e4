"""Extracts the data of a matplotlib figure from its artists: lines, bars, points, slices and heatmaps with numbers, titles and axes."""

import math
from datetime import date, datetime
from typing import Any

MIME = "application/vnd.cellblock.chart.v1+json"
MAX_POINTS = 500
MAX_SERIES = 40
MAX_CHARTS = 16
MAX_TEXT_CHARACTERS = 200
_MAX_NAMED_SERIES = 6


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


def summary(what: str, described: dict[str, Any] | None) -> str:
    """A line for readers without pictures, such as models: what was shown, its titles, and its series with their numbers of points."""
    charts = described["charts"] if described else []
    titles = [repr(title) for title in (described["title"] if described else None, *(one["title"] for one in charts)) if title]
    names = [_series_name(series) for chart in charts for series in chart["series"]]
    more = f" and {len(names) - _MAX_NAMED_SERIES} more" if len(names) > _MAX_NAMED_SERIES else ""
    return f"{' '.join([what, *titles])}{': ' if names else ''}{', '.join(names[:_MAX_NAMED_SERIES])}{more}"


def _series_name(series: dict[str, Any]) -> str:
    label = f" {series['label']!r}" if series["label"] else ""
    return f"{series['kind']}{label} ({series['points']} points)"


def _chart(axes: Any) -> dict[str, Any] | None:
    # The scale of a heatmap's colours is a heatmap too.
    if hasattr(axes, "_colorbar"):
        return None
    heatmaps, pictures = _heatmaps(axes)
    series = [*_bars(axes), *_pie_slices(axes), *heatmaps, *_lines(axes), *_scatters(axes)]
    if not series:
        return None
    kinds = {one["kind"] for one in series}
    return {
        "kind": kinds.pop() if len(kinds) == 1 else "mixed",
        "title": _text(axes.title) or _text(axes._left_title) or _text(axes._right_title),
        "x": {"label": _text(axes.xaxis.label), "scale": axes.get_xscale()},
        "y": {"label": _text(axes.yaxis.label), "scale": axes.get_yscale()},
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
    from . import chart_matrices

    return chart_matrices.read(axes, found)


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
        x, y = _data_values(axes.xaxis, offsets[:, 0]), _data_values(axes.yaxis, offsets[:, 1])
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
            series["from"] = _data_values(axis, [start for start, _, _, _ in spans])
            series["to"] = _data_values(axis, [start + width for start, width, _, _ in spans])
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


def tick_names(axis: Any) -> list[tuple[float, str]]:
    """Positions with a name: categories, or labels that were set. A plain number is not a name."""
    mapping = getattr(axis.units, "_mapping", None)
    if mapping:
        return [(float(at), str(name)) for name, at in mapping.items()]
    formatter = axis.get_major_formatter()
    if type(formatter).__name__ not in ("FixedFormatter", "StrCategoryFormatter", "FuncFormatter"):
        return []
    places = axis.get_majorticklocs()
    return [(float(at), str(name)) for at, name in zip(places, formatter.format_ticks(places), strict=False) if str(name)]


def category(axis: Any, names: list[tuple[float, str]], at: float, width: float) -> object:
    """Bars of one group are near the tick that names them."""
    near = min(names, key=lambda name: abs(name[0] - at), default=None)
    return near[1][:MAX_TEXT_CHARACTERS] if near is not None and abs(near[0] - at) <= max(0.5, abs(width)) else _data_values(axis, [at])[0]


def _data_values(axis: Any, values: Any) -> list[object]:
    """Offsets are numbers; on a time axis they are days."""
    if type(axis.get_converter()).__name__ in ("DateConverter", "_SwitchableDateConverter", "DatetimeConverter"):
        from matplotlib.dates import num2date

        return [num2date(float(value)).replace(tzinfo=None) for value in values]
    mapping = getattr(axis.units, "_mapping", None)
    if mapping:
        names = {at: name for name, at in mapping.items()}
        return [names.get(round(float(value)), float(value)) for value in values]
    return list(values)


def downsample(series: dict[str, Any], step: int) -> None:
    """Every `step`th point and the last one; `points` keeps the number of all."""
    for name in ("x", "y", "categories", "values", "base", "from", "to"):
        if name not in series:
            continue
        values = series[name]
        if hasattr(values, "iloc"):
            values = values.to_numpy()
        if step > 1 and len(values) > 1:
            last = values[len(values) - 1]
            values = [*values[:-1:step], last]
        series[name] = [json_value(value) for value in values]


def json_value(value: Any) -> object:
    """A JSON value with ten significant digits."""
    if hasattr(value, "item") and not hasattr(value, "isoformat"):
        kind = getattr(getattr(value, "dtype", None), "kind", "")
        value = str(value).removesuffix(".000000000") if kind in ("M", "m") else value.item()
    if value is None:
        return None
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**63 else str(value)
    if isinstance(value, float):
        return float(f"{value:.10g}") if math.isfinite(value) else None
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    return str(value)[:MAX_TEXT_CHARACTERS]


def label_of(artist: Any) -> str | None:
    """Labels that start with an underscore are matplotlib's own."""
    label = artist.get_label()
    return None if not isinstance(label, str) or label == "" or label.startswith("_") else label[:MAX_TEXT_CHARACTERS]


def _text(artist: Any) -> str | None:
    text = "" if artist is None else artist.get_text()
    return text[:MAX_TEXT_CHARACTERS] if text else None
