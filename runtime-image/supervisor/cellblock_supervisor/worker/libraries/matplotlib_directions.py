"""Hebrew and Arabic in pictures of matplotlib, which draws characters in the order of the string: letters are joined, and lines run from right to left.

Strings that code has already prepared, with `bidi.get_display` or as presentation forms, stay as they are.
"""

import functools
import re
import types
from collections.abc import Callable
from typing import Any

_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufb4f]")
_JOINED = re.compile("[\ufb50-\ufdff\ufe70-\ufefc]")
_MAX_REMEMBERED = 1_000
_displayed: dict[str, None] = {}


def draw_right_to_left(module: types.ModuleType, _shell: object) -> None:
    """For the renderers of a backend."""
    for name, kind in list(vars(module).items()):
        if name.startswith("Renderer") and "draw_text" in vars(kind):
            kind.draw_text = _drawing(kind.draw_text)
            kind.get_text_width_height_descent = _measuring(kind.get_text_width_height_descent)


def remember_displayed(module: types.ModuleType, _shell: object) -> None:
    get_display: Callable[..., Any] = module.get_display  # type: ignore[attr-defined]

    @functools.wraps(get_display)
    def get_display_and_remember(*arguments: Any, **options: Any) -> Any:
        text = get_display(*arguments, **options)
        if isinstance(text, str):
            _displayed[text] = None
            if len(_displayed) > _MAX_REMEMBERED:
                del _displayed[next(iter(_displayed))]
        return text

    module.get_display = get_display_and_remember  # type: ignore[attr-defined]


def _drawing(draw: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(draw)
    def draw_text(self: Any, gc: Any, x: float, y: float, s: str, prop: Any, angle: float, ismath: Any = False, mtext: Any = None) -> Any:
        return draw(self, gc, x, y, s if ismath else _visual(s), prop, angle, ismath, mtext)

    return draw_text


def _measuring(measure: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(measure)
    def get_text_width_height_descent(self: Any, s: str, prop: Any, ismath: Any) -> Any:
        return measure(self, s if ismath else _visual(s), prop, ismath)

    return get_text_width_height_descent


def _visual(text: str) -> str:
    if not _RIGHT_TO_LEFT.search(text) or _JOINED.search(text) or text in _displayed:
        return text
    try:
        import bidi
    except ImportError:
        return text
    return str(bidi.get_display(_reshaper().reshape(text)))


@functools.cache
def _reshaper() -> Any:
    import arabic_reshaper

    return arabic_reshaper.ArabicReshaper({"delete_harakat": False})
