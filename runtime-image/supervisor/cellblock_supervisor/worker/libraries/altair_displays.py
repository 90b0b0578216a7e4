"""Adds to the display of an Altair chart: a line of text, the chart's data, and a picture."""

import io
import statistics
import types
from collections.abc import Iterator
from typing import Any

from ..charts import chart_data
from ..charts.box_numbers import box_series
from ..displays import picture_budget

_MAX_DRAWN_ROWS = 10_000
# Marks that Vega makes of many values.
_SUMMARIES = ("boxplot", "errorbar", "errorband")
_SCALES = {
    **dict.fromkeys(("temporal", "time", "utc"), "datetime"),
    **dict.fromkeys(("nominal", "ordinal", "band", "point"), "categorical"),
    "quantitative": "linear",
}
_LINES = ("line", "trail", "area")
_AGGREGATES = {
    "count": len,
    "sum": sum,
    "mean": statistics.fmean,
    "average": statistics.fmean,
    "median": statistics.median,
    "min": min,
    "max": max,
}
_Row = dict[str, Any]


def install(module: types.ModuleType, shell: Any) -> None:
    """Registers the representations for every type of chart in `altair`."""
    for mime, make in (("text/plain", _plain), (chart_data.MIME, describe), ("image/png", _picture)):
        shell.display_formatter.formatters[mime].for_type(module.TopLevelMixin, make)


def describe(chart: Any) -> dict[str, Any] | None:
    """One chart for each view of the specification with readable data; None without any."""
    spec = chart.to_dict()
    charts = [one for view in _views(spec, {}, []) if (one := _chart(view, spec.get("datasets", {}))) is not None]
    if not charts:
        return None
    total = sum(series["points"] for one in charts for series in one["series"])
    for one in charts:
        for series in one["series"]:
            chart_data.downsample(series, max(1, -(-total // chart_data.MAX_POINTS)))
    return {"title": None, "charts": charts[: chart_data.MAX_CHARTS]}


def _plain(chart: Any, printer: Any, cycle: bool) -> None:
    """Called by IPython with its pretty printer."""
    try:
        described = describe(chart)
    except Exception:
        described = None
    printer.text(chart_data.summary(f"Altair {type(chart).__name__}", described))


def _picture(chart: Any) -> bytes | None:
    """None for what Altair refuses, because it reports that with its own representation."""
    try:
        rows = sum(len(rows) for rows in chart.to_dict().get("datasets", {}).values())
        if rows > _MAX_DRAWN_ROWS or not picture_budget.take():
            return None
        drawn = io.BytesIO()
        chart.save(drawn, format="png")
    except Exception:
        return None
    return drawn.getvalue()


def _views(spec: _Row, inherited: _Row, layers: list[_Row]) -> Iterator[list[_Row]]:
    """The views of a specification, each as its layers, which have the data and the encoding of what contains them."""
    known = {**inherited, **{name: spec[name] for name in ("data", "title") if name in spec}}
    known["encoding"] = {**inherited.get("encoding", {}), **spec.get("encoding", {})}
    parts = [part for name in ("hconcat", "vconcat", "concat") for part in spec.get(name, [])]
    if "layer" in spec:
        yield [layer for part in spec["layer"] for view in _views(part, known, layers) for layer in view]
    elif "spec" in spec:
        yield from _views(spec["spec"], known, layers)
    elif parts:
        for part in parts:
            yield from _views(part, known, layers)
    else:
        yield [{**spec, **known}]


def _chart(layers: list[_Row], datasets: dict[str, list[_Row]]) -> dict[str, Any] | None:
    series: list[_Row] = []
    unread = set()
    for layer in layers:
        found = _series(layer, datasets)
        series += found
        if not found:
            unread.add(_mark(layer))
    axes = {name: {"label": _axis_label(layers, name), "scale": _scale(layers, name)} for name in "xy"}
    title = next((title for layer in layers if (title := _title(layer))), None)
    return chart_data.chart(series, unread, title=title, **axes)


def _series(layer: _Row, datasets: dict[str, list[_Row]]) -> list[_Row]:
    """One for each colour. None for data behind an address, transformed data, and values in bins."""
    data = layer.get("data") or {}
    rows = data.get("values", datasets.get(data.get("name", ""), []))
    encoding = layer["encoding"]
    mark = _mark(layer)
    across, up = encoding.get("theta" if mark == "arc" else "x", {}), encoding.get("color" if mark == "arc" else "y", {})
    if not isinstance(rows, list) or layer.get("transform") or any("bin" in one or "timeUnit" in one for one in (across, up)):
        return []
    colour = None if mark == "arc" else encoding.get("color", {}).get("field")
    groups: dict[Any, list[_Row]] = {}
    for row in rows:
        groups.setdefault(row.get(colour) if colour else None, []).append(row)
    found = [_one_series(mark, across, up, group, label) for label, group in groups.items()]
    return [one for one in found if one is not None]


def _one_series(mark: str, across: _Row, up: _Row, rows: list[_Row], label: object) -> _Row | None:
    values = _columns(across, up, rows)
    if values is None:
        return None
    x, y = values
    common = {"label": None if label is None else str(label), "points": len(x)}
    if mark in _SUMMARIES:
        return _box(across, up, common, x, y) if mark == "boxplot" else None
    if mark == "arc":
        return {"kind": "pie", **common, "categories": y, "values": x}
    if mark == "bar":
        is_upright = up.get("type") == "quantitative"
        names, lengths = (x, y) if is_upright else (y, x)
        return {"kind": "bar", **common, "orientation": "vertical" if is_upright else "horizontal", "categories": names, "values": lengths}
    return {"kind": "line" if mark in _LINES else "scatter", **common, "x": x, "y": y}


def _box(across: _Row, up: _Row, common: _Row, x: list[Any], y: list[Any]) -> _Row | None:
    is_upright = up.get("type") == "quantitative"
    groups: dict[Any, list[Any]] = {}
    for name, value in zip(*((x, y) if is_upright else (y, x)), strict=True):
        groups.setdefault(name, []).append(value)
    found = box_series(groups, "vertical" if is_upright else "horizontal", shift=0)
    return found and {**common, **found}


def _columns(across: _Row, up: _Row, rows: list[_Row]) -> tuple[list[Any], list[Any]] | None:
    """The values of both channels; where one is an aggregate, those of each value of the other one."""
    aggregated = [one for one in (across, up) if "aggregate" in one]
    if not aggregated:
        if "field" not in across or "field" not in up:
            return None
        return [row.get(across["field"]) for row in rows], [row.get(up["field"]) for row in rows]
    plain = up if aggregated[0] is across else across
    make = _AGGREGATES.get(str(aggregated[0]["aggregate"]))
    if len(aggregated) > 1 or make is None or "field" not in plain:
        return None
    groups: dict[Any, list[Any]] = {}
    for row in rows:
        groups.setdefault(row.get(plain["field"]), []).append(row.get(aggregated[0].get("field", plain["field"])))
    keys = list(groups)
    sums = [make(groups[key]) for key in keys]
    return (sums, keys) if aggregated[0] is across else (keys, sums)


def _mark(layer: _Row) -> str:
    mark = layer.get("mark", "point")
    return str(mark.get("type") if isinstance(mark, dict) else mark)


def _axis_label(layers: list[_Row], name: str) -> str | None:
    for layer in layers:
        channel = layer["encoding"].get(name, {})
        text = channel.get("title") or channel.get("field")
        if text:
            return f"{channel['aggregate']} of {text}" if "aggregate" in channel else str(text)[: chart_data.MAX_TEXT_CHARACTERS]
        if "aggregate" in channel:
            return str(channel["aggregate"])
    return None


def _scale(layers: list[_Row], name: str) -> str:
    """The scale that the chart names, or the one of the first field's type."""
    channels = [layer["encoding"].get(name, {}) for layer in layers]
    written = (str(scale["type"]) for one in channels if isinstance(scale := one.get("scale"), dict) and "type" in scale)
    known = next(written, None) or next((str(one["type"]) for one in channels if "type" in one), "linear")
    return _SCALES.get(known, known)


def _title(spec: _Row) -> str | None:
    title = spec.get("title")
    text = title.get("text") if isinstance(title, dict) else title
    return str(text)[: chart_data.MAX_TEXT_CHARACTERS] if text else None
