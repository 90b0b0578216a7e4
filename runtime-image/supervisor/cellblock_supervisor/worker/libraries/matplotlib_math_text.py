"""Chinese, Japanese and Korean characters in texts of matplotlib that have formulas: matplotlib uses one font for such a text, without its fallbacks."""

import types
from typing import Any

_FAMILY = "Noto Sans CJK JP"
# The first character of the scripts: Hangul.
_FIRST = 0x1100


def choose_fonts(module: types.ModuleType, _shell: object) -> None:
    parser: Any = module.MathTextParser  # type: ignore[attr-defined]
    parse = parser.parse

    def parse_with_characters(self: Any, s: str, dpi: float = 72, prop: Any = None, **options: Any) -> Any:
        characters = {character for character in s if ord(character) >= _FIRST}
        return parse(self, s, dpi, _with_characters(prop, characters) if characters else prop, **options)

    parser.parse = parse_with_characters


def _with_characters(prop: Any, characters: set[str]) -> Any:
    """The same properties with the CJK font, if only that font has all characters."""
    from matplotlib.font_manager import FontProperties

    wanted = FontProperties() if prop is None else prop.copy()
    if _has_all(wanted, characters):
        return prop
    wanted.set_family(_FAMILY)
    return wanted if _has_all(wanted, characters) else prop


def _has_all(prop: Any, characters: set[str]) -> bool:
    from matplotlib.font_manager import findfont, get_font

    try:
        font = get_font(findfont(prop, fallback_to_default=False))
    except ValueError:
        return False
    return all(font.get_char_index(ord(character)) != 0 for character in characters)
