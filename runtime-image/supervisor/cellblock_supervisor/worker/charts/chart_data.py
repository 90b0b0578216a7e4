"""The series of a chart: their bounds, their values as JSON, and the line of text that names them."""

import math
import re
from datetime import date, datetime
from typing import Any

MIME = "application/vnd.cellblock.chart.v1+json"
MAX_POINTS = 500
MAX_SERIES = 40
MAX_CHARTS = 16
MAX_TEXT_CHARACTERS = 200
_MAX_NAMED_SERIES = 6
_DATE = re.compile(r"\d{4}-\d\d(?:-\d\d)?(?:$|[T ]\d)")
# Of a dtype: integers and floats.
_NUMBER_KINDS = ("i", "u", "f")
_NUMBER = re.compile(r"\s*[-+]?[\d.]+(?:e[-+]?\d+)?\s*$", re.IGNORECASE)
# Fields of a series with one value for each point; errors have two ends.
_COLUMNS = ("x", "y", "z", "categories", "values", "base", "from", "to", "low", "high", "x_low", "x_high", "boxes")


def summary(what: str, described: dict[str, Any] | None) -> str:
    """A line for readers without pictures, such as models: what was shown, its titles, and its series with their numbers of points."""
    charts = described["charts"] if described else []
    titles = [repr(title) for title in (described["title"] if described else None, *(one["title"] for one in charts)) if title]
    names = [_series_name(series) for chart in charts for series in chart["series"]]
    more = f" and {len(names) - _MAX_NAMED_SERIES} more" if len(names) > _MAX_NAMED_SERIES else ""
    unread = sorted({kind for chart in charts for kind in chart["unread"]})
    rest = f" (without data: {', '.join(unread[:_MAX_NAMED_SERIES])})" if unread else ""
    return f"{' '.join([what, *titles])}{': ' if names else ''}{', '.join(names[:_MAX_NAMED_SERIES])}{more}{rest}"


def _series_name(series: dict[str, Any]) -> str:
    label = f" {series['label']!r}" if series["label"] else ""
    return f"{series['kind']}{label} ({series['points']} points)"


def chart(series: list[dict[str, Any]], unread: set[str], is_drawn: bool = False, **fields: Any) -> dict[str, Any] | None:
    """None without anything that was drawn. `unread` names what has no readable numbers."""
    if not series and not unread and not is_drawn:
        return None
    kinds = {one["kind"] for one in series}
    kind = kinds.pop() if len(kinds) == 1 else "mixed" if kinds else "unknown"
    return {"kind": kind, **fields, "series": series[:MAX_SERIES], "unread": sorted(unread)}


def scale_of(values: Any) -> str:
    """Of an axis that the library chooses by its values."""
    known = next((value for value in values if value is not None), None)
    if hasattr(known, "isoformat") or getattr(getattr(known, "dtype", None), "kind", "") == "M":
        return "datetime"
    if not isinstance(known, str):
        return "linear"
    return "datetime" if _DATE.match(known) else "linear" if _NUMBER.match(known) else "categorical"


def downsample(series: dict[str, Any], step: int) -> None:
    """Every `step`th point and the last one; `points` keeps the number of all."""
    for name in _COLUMNS:
        if name not in series:
            continue
        values = series[name]
        if hasattr(values, "iloc"):
            values = values.to_numpy()
        if step > 1 and len(values) > 1:
            last = values[len(values) - 1]
            values = [*values[:-1:step], last]
        elif getattr(getattr(values, "dtype", None), "kind", "") in _NUMBER_KINDS:
            values = values.tolist()
        series[name] = [json_value(value) for value in values]


def json_value(value: Any) -> object:
    """A JSON value with ten significant digits."""
    # Nearly all values are of this type.
    if type(value) is float:
        return _json_float(value)
    if hasattr(value, "item") and not hasattr(value, "isoformat"):
        kind = getattr(getattr(value, "dtype", None), "kind", "")
        value = str(value).removesuffix(".000000000") if kind in ("M", "m") else value.item()
    if value is None:
        return None
    if isinstance(value, list):
        return [json_value(one) for one in value]
    if isinstance(value, dict):
        return {name: json_value(one) for name, one in value.items()}
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**63 else str(value)
    if isinstance(value, float):
        return _json_float(value)
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    return str(value)[:MAX_TEXT_CHARACTERS]


def _json_float(value: float) -> float | None:
    return float(f"{value:.10g}") if math.isfinite(value) else None
