"""Reads box plots and error bars of matplotlib as series. Each reader also returns the artists that the series describe, which are no lines of data."""

from typing import Any

from .box_numbers import few
from .matplotlib_axes import BOXES, category, data_values, label_of, legend_name, tick_names

Found = tuple[list[dict[str, Any]], list[Any]]

_NUMBERS = {"min": "whislo", "q1": "q1", "median": "med", "q3": "q3", "max": "whishi"}
# Of a line that seaborn draws for an error, without and with a cap at each end.
_ERROR_POINTS = (2, 8)


def boxes(axes: Any) -> Found:
    series, artists = [], []
    for statistics, drawn in getattr(axes, BOXES, ()):
        medians = drawn["medians"]
        # Artists of axes that were cleared have none.
        if not medians or any(median.axes is not axes for median in medians):
            continue
        artists += [artist for group in drawn.values() for artist in group]
        series.append(_box_series(axes, statistics, drawn))
    return series, artists


def _box_series(axes: Any, statistics: list[dict[str, Any]], drawn: dict[str, list[Any]]) -> dict[str, Any]:
    medians = drawn["medians"]
    is_upright = len(set(map(float, medians[0].get_ydata()))) == 1
    axis = axes.xaxis if is_upright else axes.yaxis
    spans = [sorted(map(float, median.get_xdata() if is_upright else median.get_ydata())) for median in medians]
    names = tick_names(axis)
    return {
        "kind": "box",
        "label": label_of(drawn["boxes"][0]) or legend_name(axes, drawn["boxes"][0]) if drawn["boxes"] else None,
        "orientation": "vertical" if is_upright else "horizontal",
        "points": len(statistics),
        "boxes": [
            {
                "label": _box_label(category(axis, names, (first + last) / 2, last - first)),
                **{name: one[key] for name, key in _NUMBERS.items()},
                "outliers": few(sorted(map(float, one.get("fliers", ())))),
            }
            for one, (first, last) in zip(statistics, spans, strict=False)
        ],
    }


def _box_label(name: object) -> str:
    return f"{name:g}" if isinstance(name, float) else str(name)


def error_bars(axes: Any) -> Found:
    """Those of `errorbar`. Those of bars belong to their bars."""
    series, artists = [], []
    of_bars = [bars.errorbar for bars in axes.containers if getattr(bars, "errorbar", None) is not None]
    for container in axes.containers:
        if type(container).__name__ != "ErrorbarContainer":
            continue
        line, caps, errors = container.lines
        artists += [*caps, *errors, *([line] if line is not None else [])]
        if not any(container is one for one in of_bars):
            series.append(_error_series(axes, container))
    return series, artists


def _error_series(axes: Any, container: Any) -> dict[str, Any]:
    line, _, _ = container.lines
    found: dict[str, Any] = {"kind": "errorbar", "label": label_of(container)}
    ends = _ends(container)
    if line is not None:
        x, y = line.get_xdata(orig=True), line.get_ydata(orig=True)
        places = {"x": list(map(float, line.get_xdata(orig=False))), "y": list(map(float, line.get_ydata(orig=False)))}
    else:
        # Only the ends are drawn, and the middle is not known.
        known = ends.get("y") or ends.get("x") or []
        places = {"x": [at for at, _, _ in known] if "y" in ends else [], "y": [at for at, _, _ in known] if "y" not in ends else []}
        x, y = data_values(axes.xaxis, places["x"]), data_values(axes.yaxis, places["y"])
    found["points"] = max(len(x), len(y))
    found |= {name: values for name, values in (("x", x), ("y", y)) if len(values)}
    for name, prefix, across in (("y", "", "x"), ("x", "x_", "y")):
        if name in ends:
            found[f"{prefix}low"], found[f"{prefix}high"] = _at(places[across], ends[name])
    return found


def _ends(container: Any) -> dict[str, list[tuple[float, float, float]]]:
    """Place, lower and upper end of the errors along each axis."""
    collections = list(container.lines[2])
    axes = [name for name, is_there in (("x", container.has_xerr), ("y", container.has_yerr)) if is_there]
    found = {}
    for name, collection in zip(axes, collections, strict=False):
        along, across = (0, 1) if name == "x" else (1, 0)
        segments = [segment for segment in collection.get_segments() if len(segment) > 1]
        found[name] = [(float(one[0][across]), float(one[0][along]), float(one[1][along])) for one in segments]
    return found


def _at(places: list[float], ends: list[tuple[float, float, float]]) -> tuple[list[float | None], list[float | None]]:
    """The ends in the order of the places; some places may have none (`errorevery`)."""
    if len(places) == len(ends):
        return [low for _, low, _ in ends], [high for _, _, high in ends]
    by_place = {place: (low, high) for place, low, high in ends}
    found = [by_place.get(place, (None, None)) for place in places]
    return [low for low, _ in found], [high for _, high in found]


def stems(axes: Any) -> list[Any]:
    """The lines below the points of `stem`."""
    found = [one for one in axes.containers if type(one).__name__ == "StemContainer"]
    return [artist for one in found for artist in (one.baseline, one.stemlines)]


def add_errors_of_bars(container: Any, series: dict[str, Any], spans: list[tuple[float, float]], lines: list[Any]) -> list[Any]:
    """The ends of the errors of bars: those of `bar(yerr=…)`, or the lines that seaborn draws. Returns the lines."""
    is_upright = series["orientation"] == "vertical"
    ends: list[tuple[float, float, float]] = []
    used = []
    if container.errorbar is not None:
        ends = _ends(container.errorbar).get("y" if is_upright else "x", [])
    else:
        centres = [start + width / 2 for start, width in spans]
        for line in lines:
            error = _error_of(line, is_upright)
            place = None if error is None else next((at for at in centres if abs(at - error[0]) < 1e-6), None)
            if error is not None and place is not None:
                ends.append((place, *error[1:]))
                used.append(line)
        if ends and len(ends) != len(centres):
            by_place = {place: (low, high) for place, low, high in ends}
            ends = [(at, *by_place.get(at, (float("nan"), float("nan")))) for at in centres]
    if ends and len(ends) == len(spans):
        series["low"], series["high"] = [low for _, low, _ in ends], [high for _, _, high in ends]
    return used


def _error_of(line: Any, is_upright: bool) -> tuple[float, float, float] | None:
    """Place, lower and upper end of a line that seaborn draws for an error: it has no name and is upright, with or without caps."""
    if label_of(line) is not None or len(line.get_xdata()) not in _ERROR_POINTS:
        return None
    across, along = (line.get_xdata(orig=False), line.get_ydata(orig=False))
    if not is_upright:
        across, along = along, across
    ends = slice(0, 2) if len(across) == 2 else slice(3, 5)
    first, last = (float(value) for value in across[ends])
    low, high = sorted(float(value) for value in along[ends])
    return (first, low, high) if first == last else None


def add_errors_of_points(lines: list[Any], series: dict[str, Any], places: list[tuple[float, float]]) -> list[Any]:
    """The errors that seaborn's `pointplot` draws as lines through the points of a line. Returns these lines."""
    found: dict[int, tuple[float, float]] = {}
    used = []
    for line in lines:
        error = _error_of(line, is_upright=True)
        if error is None:
            continue
        at, low, high = error
        number = next((index for index, (x, y) in enumerate(places) if abs(x - at) < 1e-6 and low <= y <= high), None)
        if number is not None:
            found[number] = (low, high)
            used.append(line)
    if found:
        none: tuple[float | None, float | None] = (None, None)
        series["low"], series["high"] = map(list, zip(*(found.get(index, none) for index in range(len(places))), strict=True))
    return used
