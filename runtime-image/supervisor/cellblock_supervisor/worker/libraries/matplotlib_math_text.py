"""Chinese, Devanagari and other characters in texts of matplotlib that have formulas: matplotlib uses one font for such a text, without its fallbacks."""

import types
from typing import Any

_FAMILIES = ("Noto Sans CJK JP", "Noto Sans Scripts")
# The first character after the scripts of matplotlib's own font.
_FIRST = 0x0700


def choose_fonts(module: types.ModuleType, _shell: object) -> None:
    parser: Any = module.MathTextParser  # type: ignore[attr-defined]
    parse = parser.parse

    def parse_with_characters(self: Any, s: str, dpi: float = 72, prop: Any = None, **options: Any) -> Any:
        characters = {character for character in s if ord(character) >= _FIRST}
        return parse(self, s, dpi, _with_characters(prop, characters) if characters else prop, **options)

    parser.parse = parse_with_characters


def _with_characters(prop: Any, characters: set[str]) -> Any:
    """The same properties with the first font that has all characters."""
    from matplotlib.font_manager import FontProperties

    wanted = FontProperties() if prop is None else prop.copy()
    if _has_all(wanted, characters):
        return prop
    for family in _FAMILIES:
        wanted.set_family(family)
        if _has_all(wanted, characters):
            return wanted
    return prop


def _has_all(prop: Any, characters: set[str]) -> bool:
    from matplotlib.font_manager import findfont, get_font

    try:
        font = get_font(findfont(prop, fallback_to_default=False))
    except ValueError:
        return False
    return all(font.get_char_index(ord(character)) != 0 for character in characters)
