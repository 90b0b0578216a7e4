"""Settings of the interpreter that code changes and a snapshot keeps: arguments, the collector of garbage, levels of logging, inputs of the notebook."""

import ast
import gc
import logging
import re
import sys
from typing import Any

_MAX_INPUT_CHARACTERS = 1024 * 1024
_MAX_INPUTS = 10_000
_MAX_PARSED_CHARACTERS = 64 * 1024
_RESULT = re.compile(r"Out|_\d+|_{1,3}")


class InterpreterState:
    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Called before user code runs."""
        self._start = _read()

    def changed(self) -> dict[str, Any] | None:
        return {name: value for name, value in _read().items() if value != self._start[name]} or None


def restore(changed: dict[str, Any]) -> None:
    if "argv" in changed:
        sys.argv[:] = changed["argv"]
    if "disabled" in changed:
        logging.disable(changed["disabled"])
    for level, name in changed.get("level names", {}).items():
        logging.addLevelName(level, name)
    if "collects" in changed:
        (gc.enable if changed["collects"] else gc.disable)()
    if "thresholds" in changed:
        gc.set_threshold(*changed["thresholds"])


def _read() -> dict[str, Any]:
    return {
        "argv": [argument for argument in sys.argv if type(argument) is str],
        "disabled": logging.root.manager.disable,
        "level names": {level: name for level, name in logging._levelToName.items() if type(level) is int and type(name) is str},
        "collects": gc.isenabled(),
        "thresholds": gc.get_threshold(),
    }


def inputs(shell: Any) -> dict[str, list[str]] | None:
    """`In`, with empty texts for the oldest cells beyond the limit, so that numbers agree with the count."""
    history = shell.history_manager
    found = {"parsed": _newest(history.input_hist_parsed), "raw": _newest(history.input_hist_raw)}
    return found if any(map(any, found.values())) else None


def _newest(cells: list[str]) -> list[str]:
    kept: list[str] = []
    left = _MAX_INPUT_CHARACTERS
    for cell in cells[: -_MAX_INPUTS - 1 : -1]:
        left -= len(cell)
        kept.append(cell if left >= 0 else "")
    return [*[""] * (len(cells) - len(kept)), *reversed(kept)]


def set_inputs(found: dict[str, list[str]]) -> None:
    from IPython.core.getipython import get_ipython

    history: Any = get_ipython().history_manager  # type: ignore[union-attr]
    # `In` is this list.
    history.input_hist_parsed[:] = found["parsed"]
    history.input_hist_raw[:] = found["raw"]


def uses_results(shell: Any) -> bool:
    """Whether code reads earlier results that are held by number only."""
    history = shell.history_manager
    return bool(history.output_hist) and any(map(_reads_result, history.input_hist_parsed[-_MAX_INPUTS:]))


def _reads_result(cell: str) -> bool:
    """`for _ in range(3)` makes a variable of this name and reads no result."""
    if len(cell) > _MAX_PARSED_CHARACTERS or _RESULT.search(cell) is None:
        return False
    try:
        nodes = list(ast.walk(ast.parse(cell)))
    except (SyntaxError, ValueError, RecursionError):
        return False
    bound = {node.arg for node in nodes if isinstance(node, ast.arg)}
    bound |= {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    return any(isinstance(node, ast.Name) and node.id not in bound and _RESULT.fullmatch(node.id) is not None for node in nodes)
