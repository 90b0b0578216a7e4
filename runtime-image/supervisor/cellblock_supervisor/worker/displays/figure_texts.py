"""Figures whose texts cannot be drawn as they are written: TeX without a `latex` program, and formulas that matplotlib cannot parse."""

import shutil
import sys
from collections.abc import Callable
from typing import Any


def draw(figure: Any, draw_figure: Callable[[], object]) -> object:
    """Draws a figure, and again with plainer texts if they are what fails."""
    try:
        return draw_figure()
    except (RuntimeError, ValueError, FileNotFoundError):
        if not simplify(figure):
            raise
        return draw_figure()


def simplify_open_figures() -> None:
    """Before the end of a cell: pyplot and the inline backend draw the open figures then."""
    helpers: Any = sys.modules.get("matplotlib._pylab_helpers")
    for manager in helpers.Gcf.get_all_fig_managers() if helpers is not None else ():
        simplify(manager.canvas.figure)


def simplify(figure: Any) -> bool:
    """False when nothing had to change. A change is permanent, so there is one warning."""
    from matplotlib.text import Text

    texts = figure.findobj(Text)
    had_tex = _turn_off_tex(texts)
    broken = [text for text in texts if text.get_parse_math() and not text.get_usetex() and not _parses(text.get_text())]
    for text in broken:
        text.set_parse_math(False)
    if broken:
        _warn(f"Matplotlib cannot parse the formula in {broken[0].get_text()!r}, so its source is shown. Write \\$ for a dollar sign.")
    return had_tex or bool(broken)


def _turn_off_tex(texts: list[Any]) -> bool:
    import matplotlib

    with_tex = [text for text in texts if text.get_usetex()]
    if not with_tex and not matplotlib.rcParams["text.usetex"] or shutil.which("latex") is not None:
        return False
    # Texts that drawing makes, such as those of ticks, take the parameter.
    matplotlib.rcParams["text.usetex"] = False
    for text in with_tex:
        text.set_usetex(False)
    _warn("There is no `latex` program here, so figures are drawn without usetex.")
    return True


def _parses(written: str) -> bool:
    from matplotlib.cbook import is_math_text
    from matplotlib.mathtext import MathTextParser

    parser: Any = MathTextParser("agg")
    try:
        for line in written.split("\n"):
            if is_math_text(line):
                parser.parse(line)
    except ValueError:
        return False
    return True


def _warn(sentence: str) -> None:
    print(f"Warning: {sentence}", file=sys.stderr)
