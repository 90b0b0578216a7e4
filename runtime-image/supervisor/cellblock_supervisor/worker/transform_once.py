"""One transformation of a cell where two are asked for."""

from collections.abc import Callable


class TransformOnce:
    """ipykernel transforms a cell to see whether it awaits, IPython transforms it again to run it: the second one gets the answer to the first.

    What stands between the two runs no code of the user's, so nothing that transforms can have changed. One that fails is asked again.
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
        """Before each cell: the code of the one before may have changed what transforms."""
        self._answered = None
