"""Writes what open files of a cell still buffer: the files are results, and a hibernation keeps what is on the disk."""

import contextlib
import io
import os
import sys
from collections.abc import Iterable

_KINDS = (io.TextIOWrapper, io.BufferedWriter, io.BufferedRandom)


def flush(values: Iterable[object]) -> None:
    """A notebook keeps several values of each cell, so every cell checks hundreds: by identity, which runs no code of the values."""
    hdf5 = getattr(sys.modules.get("h5py"), "File", None)
    kinds = {id(kind) for kind in (*_KINDS, hdf5)}
    for value in [value for value in list(values) if id(type(value)) in kinds]:
        # A file of code may fail with any error.
        with contextlib.suppress(Exception):
            if type(value) is hdf5:
                if value:
                    value.flush()
            # Only regular files: a pipe can be full. Not files for reading: a flush after `next(file)` makes `tell()` report a wrong position.
            elif not value.closed and value.writable() and isinstance(value.name, str) and os.path.isfile(value.name):
                value.flush()
