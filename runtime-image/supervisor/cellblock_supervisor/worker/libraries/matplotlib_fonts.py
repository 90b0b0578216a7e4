"""Fonts of matplotlib for characters that the chosen font lacks, such as Chinese and emoji, beside styles.

The image's `matplotlibrc` names them in `font.family`; styles, and seaborn's themes, replace this setting. They are added again after each. Code that
sets `font.family` itself gets what it names. A family that no system has is named once, not for every text.
"""

import functools
import logging
import types
from collections.abc import Callable


def keep_families_of_styles(module: types.ModuleType, _shell: object) -> None:
    _keep_families(module, ("use",))


def keep_families_of_themes(module: types.ModuleType, _shell: object) -> None:
    _keep_families(module, ("set", "set_theme", "set_style"))


def _keep_families(module: types.ModuleType, names: tuple[str, ...]) -> None:
    for name in names:
        setattr(module, name, _with_fallbacks(getattr(module, name)))


def _with_fallbacks(set_style: Callable[..., object]) -> Callable[..., object]:
    @functools.wraps(set_style)
    def set_style_with_fallbacks(*arguments: object, **options: object) -> object:
        import matplotlib

        result = set_style(*arguments, **options)
        families = list(matplotlib.rcParams["font.family"])
        fallbacks = matplotlib.rcParamsOrig["font.family"][1:]
        matplotlib.rcParams["font.family"] = [*families, *(family for family in fallbacks if family not in families)]
        return result

    return set_style_with_fallbacks


def name_missing_once(_module: types.ModuleType, _shell: object) -> None:
    seen: set[str] = set()

    def is_new(record: logging.LogRecord) -> bool:
        message = record.getMessage()
        is_repeated = message in seen
        if message.startswith("findfont: Font family"):
            seen.add(message)
        return not is_repeated

    logging.getLogger("matplotlib.font_manager").addFilter(is_new)
