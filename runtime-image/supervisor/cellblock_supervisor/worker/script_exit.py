"""Ends of scripts in a cell: `sys.exit(0)`, `exit()`, `quit()` and a passing `unittest.main()` succeed."""

import contextlib
import sys
from typing import Any

from . import missing_modules, network_errors, nltk_downloads


class ScriptExit:
    """Takes the place of the shell's `showtraceback`. `is_clean` after a cell: it ended by a successful exit."""

    def __init__(self, shell: Any) -> None:
        self.is_clean = False
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
        self._show(exc_tuple, *arguments, **options)
