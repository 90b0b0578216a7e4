"""The series of a chart: their bounds, their values as JSON, and the line of text that names them."""

import math
from datetime import date, datetime
from typing import Any

MIME = "application/vnd.cellblock.chart.v1+json"
MAX_POINTS = 500
MAX_SERIES = 40
MAX_CHARTS = 16
MAX_TEXT_CHARACTERS = 200
_MAX_NAMED_SERIES = 6


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
