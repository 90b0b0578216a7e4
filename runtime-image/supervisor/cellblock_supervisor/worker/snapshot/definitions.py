"""Finds the line that defined a variable, for the report of variables that could not be kept."""

import ast
from collections.abc import Iterator
from typing import Any

_MAX_CELLS = 200
_MAX_CELL_CHARACTERS = 64 * 1024
_MAX_LINE_CHARACTERS = 100


def defining_line(shell: Any, name: str) -> str:
    """A sentence such as `Defined in cell 3, line 2: gen = (i for i in x)`; empty when no cell that is remembered defines it."""
    try:
        return _search(shell, name)
    except Exception:
        # Code may have changed the shell.
        return ""


def _search(shell: Any, name: str) -> str:
    cells = shell.history_manager.input_hist_parsed
    for index in range(len(cells) - 1, max(0, len(cells) - 1 - _MAX_CELLS), -1):
        cell = cells[index]
        if name not in cell or len(cell) > _MAX_CELL_CHARACTERS:
            continue
        line = _last_line(cell, name)
        if line is not None:
            number = shell.execution_count - (len(cells) - index)
            return f"Defined in cell {number}, line {line}: {cell.splitlines()[line - 1].strip()[:_MAX_LINE_CHARACTERS]}"
    return ""


def _last_line(cell: str, name: str) -> int | None:
    try:
        return max(_lines(ast.parse(cell), name), default=None)
    except (SyntaxError, ValueError, RecursionError):
        return None


def _lines(tree: ast.AST, name: str) -> Iterator[int]:
    """Lines outside functions and classes that bind the name."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            if node.name == name:
                yield node.lineno
        elif isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store):
            yield node.lineno
        elif not isinstance(node, ast.Lambda):
            yield from _lines(node, name)
