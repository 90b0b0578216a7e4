"""Completes the MIME bundle of a Plotly figure: a line of text, HTML, the chart's data, and a picture where the image can draw one."""

import base64
import functools
import types
from collections.abc import Callable
from typing import Any

from ..charts import chart_data, plotly_series
from ..displays import picture_budget

# One needs about a second of processor time. Other programs of the machine can slow it down.
_PICTURE_SECONDS = 60
_MAX_DRAWN_POINTS = 10_000
_MAX_SHOWN_SERIES = 6
_MAX_REASON_CHARACTERS = 300
# Renderers that open a page, in a browser or in a file, and the one that shows the figure here.
_PAGES = ("browser", "chrome", "chromium", "firefox", "iframe", "iframe_connected", "notebook", "notebook_connected")
_PLAIN = "plotly_mimetype"
_SCALES = {"date": "datetime", "category": "categorical", "multicategory": "categorical"}
_initial_renderer = ""


def install(module: types.ModuleType, _shell: object) -> None:
    """Registers renderers of the same names that complete what Plotly's own return. Called with the module that registers those."""
    from plotly.io.base_renderers import MimetypeRenderer

    global _initial_renderer
    renderers = module.renderers  # type: ignore[attr-defined]
    _initial_renderer = renderers.default
    for name, renderer in list(renderers.items()):
        if isinstance(renderer, MimetypeRenderer):
            renderers[name] = _completed(renderer)
    # The sandbox has no browser, and a page in a file would be a result of 5 MB.
    for name in _PAGES:
        if name in renderers:
            renderers[name] = renderers[_PLAIN]
    # The default is kept as an object.
    renderers.default = _initial_renderer


def accept_engine(module: types.ModuleType, _shell: object) -> None:
    """Plotly 6 had a choice of programs that draw pictures, `engine="kaleido"`, which models still write. Called with the module of figures."""
    kind = module.BaseFigure  # type: ignore[attr-defined]
    for name in ("to_image", "write_image"):
        setattr(kind, name, _without_engine(getattr(kind, name)))


def _without_engine(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def draw(self: Any, *arguments: Any, engine: object = None, **options: Any) -> Any:
        return method(self, *arguments, **options)

    return draw


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


class _Figure:
    """A figure with its traces read once."""

    def __init__(self, written: dict[str, Any]) -> None:
        self.written = written
        self.layout = written.get("layout", {})
        self.traces = written.get("data", [])

    @functools.cached_property
    def series(self) -> list[plotly_series.Series | None]:
        return [_series_of(trace) for trace in self.traces]


def _series_of(trace: dict[str, Any]) -> plotly_series.Series | None:
    """None for a trace that cannot be read: the others keep their data."""
    try:
        return plotly_series.read(trace)
    except Exception:
        return None


def _additions(written: dict[str, Any], bundle: dict[str, Any]) -> dict[str, Any]:
    figure = _Figure(written)
    added: dict[str, Any] = {}
    reason = ""
    for mime, make in (("text/plain", _line), ("text/html", _html), ("image/png", _picture), (chart_data.MIME, _describe)):
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


def _html(figure: _Figure) -> str:
    from plotly.io import to_html

    return str(to_html(figure.written, include_plotlyjs="cdn", full_html=False, validate=False))


def _picture(figure: _Figure) -> str | None:
    try:
        import kaleido
    except ImportError:
        return None
    # The cells of a matrix are one picture.
    points = sum(one["points"] for one in figure.series if one is not None and one["kind"] not in plotly_series.MATRICES)
    if points > _MAX_DRAWN_POINTS:
        raise ValueError(f"It has {points} points, and at most {_MAX_DRAWN_POINTS} are drawn at once. fig.write_image(path) draws more")
    if not picture_budget.take():
        raise ValueError(
            f"the limit of {picture_budget.MAX_PICTURES} pictures of figures in a cell is reached; fig.write_image(path) in a later cell draws it"
        )
    options = {"format": "png", "width": figure.layout.get("width") or 700, "height": figure.layout.get("height") or 500}
    return base64.b64encode(kaleido.calc_fig_sync(figure.written, options, timeout=_PICTURE_SECONDS)).decode()


def _describe(figure: _Figure) -> dict[str, object] | None:
    """The data in the form of `chart_data`: one chart with a series for each trace that has numbers. Shortens the series."""
    traces = list(zip(figure.traces, figure.series, strict=True))[: chart_data.MAX_SERIES]
    series = [found for _, found in traces if found is not None]
    unread = {plotly_series.kind_of(trace) for trace, found in traces if found is None}
    step = max(1, -(-sum(one["points"] for one in series) // chart_data.MAX_POINTS))
    axes = {name: {"label": _title(figure.layout.get(f"{name}axis", {})), "scale": _scale(figure.layout, series, name)} for name in "xy"}
    for one in series:
        chart_data.downsample(one, step)
    chart = chart_data.chart(series, unread, title=_title(figure.layout), **axes)
    return None if chart is None else {"title": None, "charts": [chart]}


def _scale(layout: dict[str, Any], series: list[plotly_series.Series], name: str) -> str:
    """The layout's, or as Plotly chooses by the values of the first trace."""
    written = str(layout.get(f"{name}axis", {}).get("type", "-"))
    if written != "-":
        return _SCALES.get(written, written)
    first = series[0] if series else {}
    side = "x" if first.get("orientation", "vertical") == "vertical" else "y"
    names = first.get("categories", [box["label"] for box in first.get("boxes", ())])
    return chart_data.scale_of(first.get(name) or (names if side == name and first.get("kind") in ("bar", "box") else ()))


def _title(holder: Any) -> str | None:
    title = holder.get("title") if isinstance(holder, dict) else None
    text = title.get("text") if isinstance(title, dict) else title
    return str(text)[: chart_data.MAX_TEXT_CHARACTERS] if text else None


def _line(figure: _Figure) -> str:
    title = _title(figure.layout)
    parts = []
    for trace, found in list(zip(figure.traces, figure.series, strict=True))[:_MAX_SHOWN_SERIES]:
        name = f" {trace['name']!r}" if trace.get("name") else ""
        parts.append(f"{plotly_series.kind_of(trace)}{name}" + (f" ({found['points']} points)" if found else ""))
    more = f" and {len(figure.traces) - _MAX_SHOWN_SERIES} more" if len(figure.traces) > _MAX_SHOWN_SERIES else ""
    return f"Plotly figure{f' {title!r}' if title else ''}: {', '.join(parts) or 'no data'}{more}"
