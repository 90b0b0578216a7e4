"""Reads lines and points of matplotlib's three-dimensional axes. Their artists have positions on the screen where those of other axes have data."""

from typing import Any

from .matplotlib_axes import label_of


def read(axes: Any) -> tuple[list[dict[str, Any]], list[Any]]:
    """The series, and the artists that were read."""
    series, artists = [], []
    for line in axes.lines:
        if not hasattr(line, "get_data_3d"):
            continue
        x, y, z = line.get_data_3d()
        kind = "scatter" if line.get_linestyle() in ("None", "", " ", None) else "line"
        series.append({"kind": kind, "label": label_of(line), "points": len(x), "x": list(x), "y": list(y), "z": list(z)})
        artists.append(line)
    for points in axes.collections:
        # Matplotlib has no public name for these.
        data = getattr(points, "_offsets3d", None)
        if type(points).__name__ != "Path3DCollection" or data is None:
            continue
        x, y, z = (list(values) for values in data)
        series.append({"kind": "scatter", "label": label_of(points), "points": len(x), "x": x, "y": y, "z": z})
        artists.append(points)
    return series, artists
