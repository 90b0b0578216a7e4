"""Ends of scripts in a cell: `sys.exit(0)`, `exit()`, `quit()` and a passing `unittest.main()` succeed."""

import contextlib
import sys
import traceback
from collections.abc import Callable
from typing import Any

from ..displays.display_format import DisplayFormat
from ..libraries import missing_modules, network_errors, nltk_downloads
from . import keyboard


class ScriptExit:
    """Takes the place of the shell's `showtraceback`. `is_clean` after a cell: it ended by a successful exit."""

    def __init__(self, shell: Any, displays: DisplayFormat, send_error: Callable[[str, str, list[str]], None]) -> None:
        self.is_clean = False
        self._displays = displays
        self._send_error = send_error
        self._show = shell.showtraceback
        shell.showtraceback = self._show_unless_clean

    def _show_unless_clean(self, exc_tuple: Any = None, *arguments: Any, **options: Any) -> None:
        error = exc_tuple[1] if isinstance(exc_tuple, tuple) and len(exc_tuple) == 3 else sys.exc_info()[1]
        if isinstance(error, SystemExit) and (error.code is None or error.code is False or (type(error.code) is int and error.code == 0)):
            self.is_clean = True
            return
        if error is not None:
            missing_modules.explain(error)
            with contextlib.suppress(Exception):
                network_errors.explain(error)
                nltk_downloads.explain(error)
                keyboard.shorten(error)
        if self._displays.is_formatting:
            # The cell succeeds nevertheless, so its error alone would be missed.
            print(f"An object could not be displayed. {type(error).__name__}: {error}", file=sys.stderr)
        if isinstance(error, SystemExit):
            # IPython's own text tells the reader to use a magic of its prompt.
            self._send_error("SystemExit", str(error), [f"SystemExit: {error}"])
            return
        if isinstance(error, BaseExceptionGroup):
            # IPython prints groups instead of reporting them.
            own = error.__traceback__ and error.__traceback__.tb_next
            lines = "".join(traceback.format_exception(type(error), error, own)).splitlines()
            self._send_error(type(error).__name__, str(error), lines)
            return
        self._show(exc_tuple, *arguments, **options)
