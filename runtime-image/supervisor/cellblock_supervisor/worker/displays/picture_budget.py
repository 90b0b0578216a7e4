"""Limits the pictures that are drawn of figures of other libraries: each takes seconds of processor time."""

MAX_PICTURES = 8
_drawn = 0


def begin_cell() -> None:
    global _drawn
    _drawn = 0


def take() -> bool:
    """Whether the cell may draw another picture; it is counted as drawn."""
    global _drawn
    if _drawn >= MAX_PICTURES:
        return False
    _drawn += 1
    return True
