"""How open files and readers of files are saved: by their path and position.

Pickles refer to the public functions of this module; they keep their names and arguments.
"""

import bz2
import gzip
import io
import lzma
import os
import pickle
from typing import Any

from .file_position import text_position
from .reduction import Reduced

_FILES = (io.TextIOWrapper, io.BufferedReader, io.BufferedWriter, io.BufferedRandom, io.FileIO)
_COMPRESSED = (gzip.GzipFile, bz2.BZ2File, lzma.LZMAFile)


def reduced_file(file: Any) -> Reduced | None:
    """None for one that is closed or is no file with a name."""
    name, mode = getattr(file, "name", None), getattr(file, "mode", None)
    if file.closed or not isinstance(name, str) or not isinstance(mode, str) or not os.path.isfile(name):
        return None
    if type(file) in _COMPRESSED:
        if mode != "rb":
            raise pickle.PicklingError("It is a compressed file that is not finished. Call close() to keep it")
        return reopen_compressed, (type(file), os.path.abspath(name), file.tell())
    if type(file) not in _FILES:
        return None
    if file.writable():
        file.flush()
    # Writing again from the start would empty it.
    mode = mode.replace("w", "r+").replace("x", "r+").replace("++", "+")
    if isinstance(file, io.TextIOWrapper):
        position = text_position(file)
        return reopen_file, (os.path.abspath(name), mode, file.encoding, position, file.errors, file.line_buffering)
    return reopen_file, (os.path.abspath(name), mode, None, file.tell(), None, type(file) is io.FileIO)


def reopen_file(
    path: str, mode: str, encoding: str | None, position: int, errors: str | None = None, is_unbuffered: bool = False
) -> io.IOBase:
    """A text file without a buffer writes each line at once."""
    if "b" in mode:
        file = open(path, mode, buffering=0 if is_unbuffered else -1)
    else:
        file = open(path, mode, buffering=1 if is_unbuffered else -1, encoding=encoding, errors=errors)
    file.seek(position)
    return file


def reopen_compressed(kind: type[Any], path: str, position: int) -> Any:
    file = kind(path, "rb")
    file.seek(position)
    return file


def reduced_workbook(book: Any) -> Reduced | None:
    return (type(book), (os.path.abspath(book._io), book.engine)) if isinstance(book._io, str) else None


def reduced_reader(reader: Any) -> Reduced | None:
    path = getattr(getattr(reader.handles, "handle", None), "name", None)
    if not isinstance(path, str) or not os.path.isfile(path):
        return None
    return reopen_reader, (os.path.abspath(path), reader.engine, reader.orig_options, reader._currow)


def reopen_reader(path: str, engine: str, options: dict[str, Any], row: int) -> Any:
    """A reader of `read_csv(chunksize=…)` that continues after `row` rows."""
    from pandas.io.parsers.readers import TextFileReader

    reader = TextFileReader(path, engine=engine, **options)
    if row > 0:
        reader.get_chunk(row)
    return reader
