"""A PNG beside a vector graphic: models and many clients see only PNG."""

import base64
import re
from typing import Any

from . import picture_budget

_SVG = "image/svg+xml"
_RASTERS = ("image/png", "image/jpeg", "image/gif", "image/webp")
_MAX_SVG_CHARACTERS = 2 * 1024 * 1024
_MAX_PIXELS = 1600
_DEFAULT_PIXELS = 800
_PIXELS_PER_UNIT = {"": 1, "px": 1, "pt": 4 / 3, "in": 96, "cm": 96 / 2.54, "mm": 96 / 25.4, "pc": 16}


def add_png(data: dict[str, Any], figure: Any) -> None:
    """Of a figure of matplotlib, or of the graphic itself where CairoSVG is installed."""
    svg = data.get(_SVG)
    if not isinstance(svg, str) or len(svg) > _MAX_SVG_CHARACTERS or any(mime in data for mime in _RASTERS) or not picture_budget.take():
        return
    if figure is not None:
        from IPython.core.pylabtools import print_figure

        data["image/png"] = print_figure(figure, fmt="png", base64=True)
    else:
        import cairosvg

        width, height = _size(svg)
        picture = cairosvg.svg2png(bytestring=svg.encode(), output_width=width, output_height=height, background_color="white")
        data["image/png"] = base64.b64encode(picture).decode()


def _size(svg: str) -> tuple[int, int]:
    """Bounded: a graphic of ten bytes can ask for gigabytes of pixels."""
    root = re.search(r"<(?:\w+:)?svg\b[^>]*>", svg)
    attributes = dict(re.findall(r"""([\w:-]+)\s*=\s*["']([^"']*)["']""", root.group() if root else ""))
    box = [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", attributes.get("viewBox", ""))]
    width, height = _pixels(attributes.get("width", "")), _pixels(attributes.get("height", ""))
    ratio = box[2] / box[3] if len(box) == 4 and box[2] > 0 and box[3] > 0 else 1.0
    if width is None and height is None:
        width = box[2] if len(box) == 4 and box[2] > 0 else float(_DEFAULT_PIXELS)
    width = width if width is not None else (height or 1) * ratio
    height = height if height is not None else width / ratio
    scale = min(1.0, _MAX_PIXELS / max(width, height))
    return max(1, round(width * scale)), max(1, round(height * scale))


def _pixels(length: str) -> float | None:
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", length)
    if match is None or match[2] not in _PIXELS_PER_UNIT or float(match[1]) == 0:
        return None
    return float(match[1]) * _PIXELS_PER_UNIT[match[2]]
