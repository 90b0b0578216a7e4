"""Names and keeps the code of cells for those who ask where a frame came from."""

import contextlib
import inspect
import os

from IPython.core.compilerop import CachingCompiler

# Bound here, so that user code that replaces it stops no cell.
_absolute = os.path.abspath


class CellCompiler(CachingCompiler):
    """IPython's own. The stock one of ipykernel hashes every cell in pure Python to name it for a debugger that is not here."""

    def cache(self, transformed_code: str, number: int = 0, raw_code: str | None = None) -> str:
        name = super().cache(transformed_code, number, raw_code)
        # `inspect` looks through every loaded module for a file that it does not know, twice for each frame of a traceback: with the data stack
        # a recursion without an end took seconds to be told. It asks by the name, and by that name in the present folder.
        inspect.modulesbyfile[name] = "__main__"
        with contextlib.suppress(OSError):
            inspect.modulesbyfile[_absolute(name)] = "__main__"
        return name
