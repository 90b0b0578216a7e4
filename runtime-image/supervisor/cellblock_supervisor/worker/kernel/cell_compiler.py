"""Names and stores the source of cells for tracebacks and `inspect`."""

import contextlib
import inspect
import os

from IPython.core.compilerop import CachingCompiler

# Bound here, so that user code that replaces it does not break cells.
_absolute = os.path.abspath


class CellCompiler(CachingCompiler):
    """IPython's compiler. The compiler of ipykernel hashes every cell in pure Python for a debugger, which this image does not have."""

    def __init__(self) -> None:
        super().__init__()
        # Without the flag for consoles that wait for more lines, which changes the errors of cut code.
        self.reset_compiler_flags()

    def cache(self, transformed_code: str, number: int = 0, raw_code: str | None = None) -> str:
        name = super().cache(transformed_code, number, raw_code)
        # `inspect` searches every loaded module for an unknown file, twice per frame of a traceback: with the data stack the traceback of an
        # infinite recursion took seconds. It searches by the name and by the absolute path.
        inspect.modulesbyfile[name] = "__main__"
        with contextlib.suppress(OSError):
            inspect.modulesbyfile[_absolute(name)] = "__main__"
        return name
