"""How values are saved that pickle refuses, but that can be made again: open files, databases, readers of files, cached functions.

Pickles refer to the public functions of this module; they keep their names and arguments.
"""

import bz2
import functools
import gzip
import io
import lzma
import os
import pickle
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import databases
from .databases import Reduced
from .file_position import text_position

if TYPE_CHECKING:
    import sqlite3

_FILES = (io.TextIOWrapper, io.BufferedReader, io.BufferedWriter, io.BufferedRandom, io.FileIO)
_COMPRESSED = (gzip.GzipFile, bz2.BZ2File, lzma.LZMAFile)



def reduced(value: object) -> Reduced | None:
    """None for a value that pickle itself has to save. Raises PicklingError, with a reason, for one that cannot be kept."""
    if isinstance(value, io.IOBase):
        return _reduced_file(value)
    kind = type(value)
    reduce = _REDUCERS.get((kind.__module__, kind.__name__))
    return None if reduce is None else reduce(value)


def _reduced_file(file: Any) -> Reduced | None:
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


def open_database(path: str, isolation_level: Any, row_factory: Any, text_factory: Any) -> "sqlite3.Connection":
    """Of snapshots of earlier versions, like the two functions below."""
    import sqlite3

    connection = sqlite3.connect(path, isolation_level=isolation_level)
    connection.row_factory, connection.text_factory = row_factory, text_factory
    return connection


def load_database(content: bytes, isolation_level: Any, row_factory: Any, text_factory: Any) -> "sqlite3.Connection":
    connection = open_database(":memory:", isolation_level, row_factory, text_factory)
    if content:
        connection.deserialize(content)
    return connection


open_engine = databases.open_engine


def _reduced_workbook(book: Any) -> Reduced | None:
    return (type(book), (os.path.abspath(book._io), book.engine)) if isinstance(book._io, str) else None


def _reduced_reader(reader: Any) -> Reduced | None:
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


def _reduced_sqlite(connection: Any) -> Reduced | None:
    from . import sqlite_connections

    return sqlite_connections.reduced_sqlite(connection)


def _reduced_cached_function(function: Any) -> Reduced | None:
    """Of the notebook; that of a module is found by its name."""
    return (cached_function, (function.__wrapped__, function.cache_parameters())) if function.__module__ == "__main__" else None


def cached_function(function: Callable[..., object], parameters: dict[str, Any]) -> Callable[..., object]:
    return functools.lru_cache(**parameters)(function)


_REDUCERS: dict[tuple[str, str], Callable[[Any], Reduced | None]] = {
    ("sqlite3", "Connection"): _reduced_sqlite,
    ("sqlalchemy.engine.base", "Engine"): databases.reduced_engine,
    ("pandas.io.excel._base", "ExcelFile"): _reduced_workbook,
    ("pandas.io.parsers.readers", "TextFileReader"): _reduced_reader,
    ("functools", "_lru_cache_wrapper"): _reduced_cached_function,
}
