"""Caches the transformation of a cell, which is requested twice."""

from collections.abc import Callable


class TransformOnce:
    """ipykernel transforms a cell to see whether it awaits, and IPython transforms it again to run it: the second call gets the cached result.

    No user code runs between the two, so the transformers cannot have changed. A failure is not cached.
    """

    def __init__(self, transform: Callable[[str], str]) -> None:
        self._transform = transform
        self._answered: tuple[str, str] | None = None

    def __call__(self, raw_cell: str) -> str:
        answered, self._answered = self._answered, None
        if answered is not None and answered[0] == raw_cell:
            return answered[1]
        transformed = self._transform(raw_cell)
        self._answered = (raw_cell, transformed)
        return transformed

    def forget(self) -> None:
        """Called before each cell: earlier code may have changed the transformers."""
        self._answered = None
