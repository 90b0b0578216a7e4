"""Chinese, Japanese and Korean characters in texts of matplotlib that have formulas: matplotlib's fallback to other fonts omits those texts."""

import types
from typing import Any

from .post_import import after_import

_FAMILY = "Noto Sans CJK JP"
# The first character of the scripts: Hangul.
_FIRST = 0x1100


def install() -> None:
    after_import("matplotlib._mathtext", _add_fallback)


def _add_fallback(module: types.ModuleType) -> None:
    fonts: Any = module.UnicodeFonts  # type: ignore[attr-defined]
    find = fonts._get_glyph

    def get_glyph(self: Any, fontname: str, font_class: str, symbol: str) -> tuple[Any, int, bool]:
        if len(symbol) == 1 and ord(symbol) >= _FIRST and self._get_font("default").get_char_index(ord(symbol)) == 0:
            font = _fallback()
            if font is not None and font.get_char_index(ord(symbol)) != 0:
                return font, ord(symbol), False
        return find(self, fontname, font_class, symbol)

    fonts._get_glyph = get_glyph


def _fallback() -> Any:
    """None in an image without the font."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    try:
        return get_font(findfont(FontProperties(family=_FAMILY), fallback_to_default=False))
    except ValueError:
        return None
