"""Completes the MIME bundle of a Plotly figure: a line of text, HTML, the chart's data, and a picture where the image can draw one."""

import base64
import types
from typing import Any

from . import chart_data, picture_budget

# One needs about a second of processor time. Other programs of the machine can slow it down.
_PICTURE_SECONDS = 60
_MAX_DRAWN_POINTS = 10_000
_MAX_SHOWN_SERIES = 6
_MAX_REASON_CHARACTERS = 300
_initial_renderer = ""


def install(module: types.ModuleType) -> None:
    """Registers renderers of the same names that complete what Plotly's own return. Called with the module that registers those."""
    from plotly.io.base_renderers import MimetypeRenderer

    global _initial_renderer
    renderers = module.renderers  # type: ignore[attr-defined]
    _initial_renderer = renderers.default
    for name, renderer in list(renderers.items()):
        if isinstance(renderer, MimetypeRenderer):
            renderers[name] = _completed(renderer)
    # The default is kept as an object.
    renderers.default = _initial_renderer


def _completed(renderer: Any) -> Any:
    kind = type(renderer)

    class Completed(kind):  # type: ignore[misc, valid-type]
        def to_mimebundle(self, fig_dict: dict[str, Any]) -> dict[str, Any]:
            bundle = super().to_mimebundle(fig_dict)
            return {**bundle, **_additions(fig_dict, bundle)} if bundle else bundle

    # Plotly shows both when code prints its renderers.
    Completed.__name__, Completed.__doc__ = kind.__name__, kind.__doc__
    made = Completed.__new__(Completed)
    vars(made).update(vars(renderer))
    return made


def initial_renderer() -> str:
    """The one that Plotly chose when it was imported."""
    return _initial_renderer


def _additions(figure: dict[str, Any], bundle: dict[str, Any]) -> dict[str, Any]:
    added: dict[str, Any] = {}
    reason = ""
    for mime, make in (("text/plain", _line), ("text/html", _html), (chart_data.MIME, describe), ("image/png", _picture)):
        if mime in bundle:
            continue
        try:
            value = make(figure)
        except Exception as error:
            if mime == "image/png":
                reason = f" (no picture: {error})"
            continue
        if value is not None:
            added[mime] = value
    if "text/plain" in added:
        added["text/plain"] += reason[:_MAX_REASON_CHARACTERS]
    return added


def _html(figure: dict[str, Any]) -> str:
    from plotly.io import to_html

    return str(to_html(figure, include_plotlyjs="cdn", full_html=False, validate=False))


def _picture(figure: dict[str, Any]) -> str | None:
    try:
        import kaleido
    except ImportError:
        return None
    points = sum((_series(trace) or {"points": 0})["points"] for trace in figure.get("data", []))
    if points > _MAX_DRAWN_POINTS:
        raise ValueError(f"It has {points} points, and at most {_MAX_DRAWN_POINTS} are drawn at once. fig.write_image(path) draws more")
    if not picture_budget.take():
        raise ValueError(
            f"the limit of {picture_budget.MAX_PICTURES} pictures of figures in a cell is reached; fig.write_image(path) in a later cell draws it"
        )
    layout = figure.get("layout", {})
    options = {"format": "png", "width": layout.get("width") or 700, "height": layout.get("height") or 500}
    return base64.b64encode(kaleido.calc_fig_sync(figure, options, timeout=_PICTURE_SECONDS)).decode()


def describe(figure: dict[str, Any]) -> dict[str, object] | None:
    """The data in the form of `chart_data`: one chart with a series for each trace that has numbers."""
    series, unread = [], set()
    for trace in figure.get("data", [])[: chart_data.MAX_SERIES]:
        found = _series(trace)
        if found is None:
            unread.add(str(trace.get("type", "scatter")))
        else:
            series.append(found)
    if not series:
        return None
    step = max(1, -(-sum(one["points"] for one in series) // chart_data.MAX_POINTS))
    for one in series:
        chart_data.downsample(one, step)
    layout = figure.get("layout", {})
    kinds = {one["kind"] for one in series}
    axes = {name: {"label": _title(layout.get(f"{name}axis", {})), "scale": layout.get(f"{name}axis", {}).get("type", "linear")} for name in "xy"}
    chart = {"kind": kinds.pop() if len(kinds) == 1 else "mixed", "title": _title(layout), **axes, "series": series, "unread": sorted(unread)}
    return {"title": None, "charts": [chart]}


def _series(trace: dict[str, Any]) -> dict[str, Any] | None:
    kind = trace.get("type", "scatter")
    label = trace.get("name") or None
    if kind in ("pie", "treemap", "sunburst", "funnelarea"):
        values = _values(trace.get("values"))
        names = _values(trace.get("labels"))
        return None if values is None else {"kind": "pie", "label": label, "points": len(values), "categories": names or [], "values": values}
    x, y = _values(trace.get("x")), _values(trace.get("y"))
    if x is None and y is None:
        return None
    if kind == "bar":
        is_upright = trace.get("orientation") != "h"
        names, lengths = (x, y) if is_upright else (y, x)
        lengths = lengths or []
        names = names or list(range(len(lengths)))
        orientation = "vertical" if is_upright else "horizontal"
        return {"kind": "bar", "label": label, "orientation": orientation, "points": len(lengths), "categories": names, "values": lengths}
    known = y if y is not None else x
    shape = "line" if kind.startswith("scatter") and "lines" in str(trace.get("mode", "lines")) else kind.removesuffix("gl")
    return {"kind": shape, "label": label, "points": len(known or []), "x": x if x is not None else list(range(len(known or []))), "y": y or []}


def _values(array: Any) -> list[Any] | None:
    """A list, or Plotly's typed array: `{"dtype", "bdata"}`."""
    if array is None:
        return None
    if isinstance(array, dict) and "bdata" in array:
        import numpy

        return list(numpy.frombuffer(base64.b64decode(array["bdata"]), dtype=array["dtype"]).tolist())
    return list(array)


def _title(holder: Any) -> str | None:
    title = holder.get("title") if isinstance(holder, dict) else None
    text = title.get("text") if isinstance(title, dict) else title
    return str(text)[: chart_data.MAX_TEXT_CHARACTERS] if text else None


def _line(figure: dict[str, Any]) -> str:
    title = _title(figure.get("layout", {}))
    traces = figure.get("data", [])
    parts = []
    for trace in traces[:_MAX_SHOWN_SERIES]:
        found = _series(trace)
        name = f" {trace['name']!r}" if trace.get("name") else ""
        parts.append(f"{trace.get('type', 'scatter')}{name}" + (f" ({found['points']} points)" if found else ""))
    more = f" and {len(traces) - _MAX_SHOWN_SERIES} more" if len(traces) > _MAX_SHOWN_SERIES else ""
    return f"Plotly figure{f' {title!r}' if title else ''}: {', '.join(parts) or 'no data'}{more}"
