"""The numbers of box plots of libraries that draw them from the values: quartiles, whiskers of at most 1.5 times their distance, and the values beyond."""

import math
from typing import Any

_MAX_OUTLIERS = 50


def box_series(groups: dict[Any, list[Any]], orientation: str, shift: float) -> dict[str, Any] | None:
    """One box for each group. `shift` is 1/2 for the quartiles of Plotly, 0 for those of Vega (as numpy's methods `hazen` and `linear`)."""
    known = {name: sorted(float(value) for value in values if _is_number(value)) for name, values in groups.items()}
    boxes = [(name, _numbers(values, shift)) for name, values in known.items() if values]
    if not boxes:
        return None
    return {"kind": "box", "orientation": orientation, "points": len(boxes), "boxes": [{"label": str(name), **box} for name, box in boxes]}


def few(values: list[float]) -> list[float]:
    """All, or some of many with the first and the last."""
    step = -(-len(values) // _MAX_OUTLIERS)
    return values if step <= 1 else [*values[:-1:step], values[-1]]


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and math.isfinite(value)


def _numbers(values: list[float], shift: float) -> dict[str, Any]:
    first, median, third = (_quantile(values, share, shift) for share in (0.25, 0.5, 0.75))
    reach = 1.5 * (third - first)
    inner = [value for value in values if first - reach <= value <= third + reach]
    outliers = [value for value in values if not first - reach <= value <= third + reach]
    return {"min": inner[0], "q1": first, "median": median, "q3": third, "max": inner[-1], "outliers": few(outliers)}


def _quantile(values: list[float], share: float, shift: float) -> float:
    place = share * len(values) - shift if shift else share * (len(values) - 1)
    place = min(max(place, 0), len(values) - 1)
    below = math.floor(place)
    above = min(below + 1, len(values) - 1)
    return values[below] + (values[above] - values[below]) * (place - below)
