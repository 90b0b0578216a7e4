"""Writes what open files of a cell still buffer: the files are results, and a hibernation keeps what is on the disk."""

import contextlib
import io
import os
from collections.abc import Iterable

_HDF5 = "h5py._hl.files"
_KINDS = (io.TextIOWrapper, io.BufferedWriter, io.BufferedRandom)


def flush(values: Iterable[object]) -> None:
    for value in list(values):
        # Values may be of any class, with any error.
        with contextlib.suppress(Exception):
            # Only regular files: a pipe can be full.
            if type(value) in _KINDS:
                # Not files for reading: a flush after `next(file)` makes `tell()` report a wrong position.
                if not value.closed and value.writable() and isinstance(value.name, str) and os.path.isfile(value.name):
                    value.flush()
            elif type(value).__module__ == _HDF5 and value:
                value.flush()
