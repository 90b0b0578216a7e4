"""Shows a Bokeh figure as one display: HTML, a line of text, and the chart's data. Bokeh draws with a browser, so there is no picture."""

import types
from typing import Any

from IPython.display import publish_display_data

from ..charts import chart_data

_KINDS = {"Line": "line", "Step": "line", "VBar": "bar", "HBar": "bar", "Scatter": "scatter", "Circle": "scatter", "Wedge": "pie"}

_SCALES = {"LogAxis": "log", "DatetimeAxis": "datetime", "CategoricalAxis": "categorical"}


def install(module: types.ModuleType, _shell: object) -> None:
    """Makes `show` display figures in the notebook, through the hook that `bokeh.io` has for notebooks of other makers."""
    from bokeh.io.notebook import show_app

    module.install_notebook_hook("jupyter", lambda *_, **__: None, _show, show_app, overwrite=True)  # type: ignore[attr-defined]
    # Without it `show` writes a file and opens a browser.
    module.output_notebook(hide_banner=True)  # type: ignore[attr-defined]


def _show(shown: Any, state: Any, notebook_handle: bool = False) -> None:
    from bokeh.embed import file_html
    from bokeh.resources import CDN

    try:
        described = describe(shown)
    except Exception:
        described = None
    bundle: dict[str, Any] = {
        "text/html": file_html(shown, CDN, "Bokeh"),
        "text/plain": chart_data.summary("Bokeh figure", described),
    }
    if described is not None:
        bundle[chart_data.MIME] = described
    publish_display_data(bundle)


def describe(shown: Any) -> dict[str, Any] | None:
    """One chart for each plot with readable data; None without any."""
    from bokeh.models import Plot

    plots = [one for root in (shown if isinstance(shown, (list, tuple)) else [shown]) for one in root.select({"type": Plot})]
    charts = [chart for plot in plots[: chart_data.MAX_CHARTS] if (chart := _chart(plot)) is not None]
    if not charts:
        return None
    total = sum(series["points"] for chart in charts for series in chart["series"])
    for chart in charts:
        for series in chart["series"]:
            chart_data.downsample(series, max(1, -(-total // chart_data.MAX_POINTS)))
    return {"title": None, "charts": charts}


def _chart(plot: Any) -> dict[str, Any] | None:
    series, unread = [], set()
    labels = _labels(plot)
    for renderer in plot.renderers[: chart_data.MAX_SERIES]:
        glyph = getattr(renderer, "glyph", None)
        found = None if glyph is None else _series(glyph, renderer.data_source.data)
        if found is None:
            unread.add(type(glyph or renderer).__name__)
        else:
            series.append({**found, "label": labels.get(id(renderer))})
    return chart_data.chart(series, unread, title=_text(getattr(plot.title, "text", None)), x=_axis(plot.xaxis), y=_axis(plot.yaxis))


def _series(glyph: Any, data: Any) -> dict[str, Any] | None:
    name = type(glyph).__name__
    kind = _KINDS.get(name)
    if kind == "bar":
        is_upright = name == "VBar"
        names, values = _column(glyph.x if is_upright else glyph.y, data), _column(glyph.top if is_upright else glyph.right, data)
        if names is None or values is None:
            return None
        orientation = "vertical" if is_upright else "horizontal"
        return {"kind": kind, "orientation": orientation, "points": len(values), "categories": names, "values": values}
    if kind in ("line", "scatter"):
        x, y = _column(glyph.x, data), _column(glyph.y, data)
        return None if x is None or y is None else {"kind": kind, "points": len(x), "x": x, "y": y}
    return None


def _column(wanted: Any, data: Any) -> list[Any] | None:
    """The values of a property that names a column of its source."""
    field = wanted if isinstance(wanted, str) else getattr(wanted, "field", None)
    return list(data[field]) if field in data else None


def _labels(plot: Any) -> dict[int, str | None]:
    """Names of the legend, by the identity of the renderer."""
    items = [item for legend in plot.legend for item in legend.items]
    return {id(renderer): _text(getattr(item.label, "value", None)) for item in items for renderer in item.renderers}


def _axis(axes: Any) -> dict[str, str | None]:
    first = axes[0] if axes else None
    return {"label": _text(getattr(first, "axis_label", None)), "scale": _SCALES.get(type(first).__name__, "linear")}


def _text(value: Any) -> str | None:
    return str(value)[: chart_data.MAX_TEXT_CHARACTERS] if value else None
