"""A DataFrame or Series as a tabular data resource (the frictionless standard, which Jupyter's data explorers read), bounded."""

import math
from typing import Any

MIME = "application/vnd.dataresource+json"
MAX_ROWS = 20
MAX_COLUMNS = 30
MAX_TEXT_CHARACTERS = 200


def describe(value: Any) -> dict[str, object]:
    """The first rows and columns; `cellblock` has the totals. The index comes first, as the primary key."""
    frame = value.to_frame() if value.ndim == 1 else value
    shown = frame.iloc[:MAX_ROWS, :MAX_COLUMNS]
    index = shown.index
    levels = [index.get_level_values(level) for level in range(index.nlevels)]
    names = _unique(
        [_name(name, "index" if index.nlevels == 1 else f"level_{at}") for at, name in enumerate(index.names)]
        + [_name(column, "values") for column in shown.columns]
    )
    kinds = [_kind(level.dtype) for level in levels] + [_kind(dtype) for dtype in shown.dtypes]
    columns = [[_cell(value) for value in values] for values in [*levels, *(shown.iloc[:, at] for at in range(shown.shape[1]))]]
    return {
        "schema": {
            "fields": [{"name": name, "type": kind} for name, kind in zip(names, kinds, strict=True)],
            "primaryKey": names[: len(levels)],
        },
        "data": [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)],
        "cellblock": {
            "rows": int(frame.shape[0]),
            "columns": int(frame.shape[1]),
            "rows_shown": int(shown.shape[0]),
            "columns_shown": int(shown.shape[1]),
        },
    }


def _cell(value: Any) -> object:
    """A JSON value: times and durations in ISO 8601, missing ones null, long texts cut, everything unknown as its text."""
    # The value is a table, so pandas is loaded already.
    from pandas import isna
    from pandas.api.types import is_scalar

    if is_scalar(value) and isna(value):
        return None
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if hasattr(value, "item") and is_scalar(value):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**63 else str(value)
    text = value if isinstance(value, str) else str(value)
    return text if len(text) <= MAX_TEXT_CHARACTERS else f"{text[:MAX_TEXT_CHARACTERS]}..."


def _kind(dtype: Any) -> str:
    """The type of a Table Schema field."""
    code = getattr(dtype, "kind", "O")
    by_code = {"i": "integer", "u": "integer", "f": "number", "b": "boolean", "M": "datetime", "m": "duration"}
    return by_code.get(code, "string" if code in "OUST" else "any")


def _name(label: object, default: str) -> str:
    if label is None:
        return default
    return " / ".join(str(part) for part in label) if isinstance(label, tuple) else str(label)


def _unique(names: list[str]) -> list[str]:
    taken: set[str] = set()
    for at, name in enumerate(names):
        unique, n = name, 2
        while unique in taken:
            unique, n = f"{name}_{n}", n + 1
        taken.add(unique)
        names[at] = unique
    return names
