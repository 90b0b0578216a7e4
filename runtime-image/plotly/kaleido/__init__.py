"""The interface of Kaleido 1 that Plotly calls, without a browser: plotly.js draws in Node.js, resvg makes the picture.

WebGL traces and maps with tiles need a browser, so they are refused.
"""

import asyncio
import io
from pathlib import Path

from .errors import DrawingError
from .renderer import draw

_WEBGL = frozenset(
    (*("scatter3d", "surface", "mesh3d", "cone", "streamtube", "volume", "isosurface", "parcoords", "splom"),
     *(f"{kind}{maps}" for kind in ("scatter", "density", "choropleth") for maps in ("map", "mapbox")))
)


def calc_fig_sync(fig, opts=None, *, topojson=None, kopts=None, timeout=120):
    """The picture of a figure as bytes: png, jpg, webp, svg or pdf. Raises DrawingError."""
    figure = fig if isinstance(fig, dict) else fig.to_dict()
    options = dict(opts or {})
    wanted = str(options.get("format") or "png").lower()
    refused = sorted({str(trace.get("type")) for trace in figure.get("data", [])} & _WEBGL)
    if refused:
        raise DrawingError(f"A static picture of {', '.join(refused)} needs WebGL, which this sandbox lacks. Write HTML instead: fig.write_html(path).")
    request = {
        "figure": figure,
        "format": "svg" if wanted in ("svg", "pdf") else "png",
        "width": options.get("width"),
        "height": options.get("height"),
        "scale": options.get("scale") or 1,
    }
    from plotly.io.json import to_json_plotly

    return _converted(draw(to_json_plotly(request).encode(), timeout), wanted)


def _converted(picture, wanted):
    if wanted in ("png", "svg"):
        return picture
    if wanted == "pdf":
        import cairosvg

        return cairosvg.svg2pdf(bytestring=picture)
    if wanted not in ("jpg", "jpeg", "webp"):
        raise DrawingError(f"There is no format {wanted}. Use png, jpg, webp, svg or pdf.")
    from PIL import Image

    converted = io.BytesIO()
    Image.open(io.BytesIO(picture)).convert("RGB").save(converted, "WEBP" if wanted == "webp" else "JPEG", quality=90)
    return converted.getvalue()


def write_fig_sync(fig, path=None, opts=None, *, topojson=None, kopts=None):
    path = Path(path or "figure.png")
    options = dict(opts or {})
    options.setdefault("format", path.suffix.removeprefix(".") or "png")
    path.write_bytes(calc_fig_sync(fig, options))


def write_fig_from_object_sync(fig_objects, *, kopts=None, **_options):
    for one in fig_objects:
        write_fig_sync(one["fig"], one.get("path"), one.get("opts"))


async def calc_fig(fig, opts=None, **options):
    return await asyncio.to_thread(calc_fig_sync, fig, opts, **options)


async def write_fig(fig, path=None, opts=None, **options):
    await asyncio.to_thread(write_fig_sync, fig, path, opts, **options)


def get_chrome_sync(*_arguments, **_options):
    """Nothing to install: no browser is needed."""
    return Path("/usr/local/bin/node")


def start_sync_server(*_arguments, **_options):
    """The program that draws starts with the first picture."""


stop_sync_server = start_sync_server
