"""Names and values of positions on the axes of matplotlib, and labels of its artists."""

from typing import Any

from .chart_data import MAX_TEXT_CHARACTERS, json_value

# The attribute of axes that keeps the numbers of their box plots with the artists.
BOXES = "_cellblock_boxes"
# Converters of matplotlib and pandas: positions are days, or other counts of time.
_DATE_CONVERTERS = ("DateConverter", "ConciseDateConverter", "_SwitchableDateConverter", "DatetimeConverter")
_TIME_CONVERTERS = ("PeriodConverter", "TimeConverter")
_MAX_TICKS = 100


def describe_axis(axis: Any) -> dict[str, object]:
    """Its scale and its ticks: their values, on a time axis as times, and their labels."""
    is_time = _is_time(axis)
    places = list(axis.get_majorticklocs())[:_MAX_TICKS]
    # A scale whose formatter fails has no readable labels.
    try:
        labels = [_tick_label(str(label)) for label in axis.get_major_formatter().format_ticks(places)]
    except Exception:
        labels = []
    values = data_values(axis, places) if is_time else [float(place) for place in places]
    return {"scale": scale(axis), "ticks": [json_value(value) for value in values], "tick_labels": labels}


def _tick_label(text: str) -> str:
    """With the minus of a number as programs write it. One wide character also doubles the memory of every copy of the picture in the service."""
    text = text[:MAX_TEXT_CHARACTERS]
    return f"-{text[1:]}" if text.startswith("\N{MINUS SIGN}") else text


def _is_time(axis: Any) -> bool:
    return type(axis.get_converter()).__name__ in _DATE_CONVERTERS


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
    return near[1][:MAX_TEXT_CHARACTERS] if near is not None and abs(near[0] - at) <= max(0.5, abs(width)) else data_values(axis, [at])[0]


def scale(axis: Any) -> str:
    """`datetime`, `categorical`, or the name that matplotlib has."""
    if type(axis.get_converter()).__name__ in (*_DATE_CONVERTERS, *_TIME_CONVERTERS):
        return "datetime"
    return "categorical" if getattr(axis.units, "_mapping", None) else str(axis.get_scale())


def data_values(axis: Any, values: Any) -> list[object]:
    """Offsets are numbers; on a time axis they are days."""
    if _is_time(axis):
        from matplotlib.dates import num2date

        return [num2date(float(value)).replace(tzinfo=None) for value in values]
    mapping = getattr(axis.units, "_mapping", None)
    if mapping:
        names = {at: name for name, at in mapping.items()}
        return [names.get(round(float(value)), float(value)) for value in values]
    return list(values)


def line_values(axis: Any, values: Any) -> Any:
    """seaborn passes the positions of dates and of categories, not their values."""
    is_number = getattr(getattr(values, "dtype", None), "kind", "") in ("f", "i", "u")
    return data_values(axis, values) if is_number and len(values) > 0 and scale(axis) in ("datetime", "categorical") else values


def legend_name(axes: Any, artist: Any) -> str | None:
    """seaborn names the bars and boxes of one colour in the legend only."""
    legend = axes.get_legend()
    colour = getattr(artist, "get_facecolor", tuple)()
    for handle, text in zip(legend.legend_handles, legend.get_texts(), strict=False) if legend is not None else ():
        if colour and getattr(handle, "get_facecolor", tuple)() == colour:
            return str(text.get_text())[:MAX_TEXT_CHARACTERS]
    return None


def label_of(artist: Any) -> str | None:
    """Labels that start with an underscore are matplotlib's own."""
    label = artist.get_label()
    return None if not isinstance(label, str) or label == "" or label.startswith("_") else label[:MAX_TEXT_CHARACTERS]
