"""The table of values that pickle itself cannot save: how each is saved, or why it cannot be."""

import io
import logging
import pickle
import sys
from collections.abc import Callable
from typing import Any

from . import databases, detached_objects, documents, open_files
from .reduction import Reduced
from .xml_trees import reduced_xml

_POOL = "A pool of workers cannot be saved. Make it again"
_UNFINISHED = "It is a file that is not finished. Call close() to keep it"
_REFUSED = {
    ("concurrent.futures.process", "ProcessPoolExecutor"): _POOL,
    ("concurrent.futures.thread", "ThreadPoolExecutor"): _POOL,
    ("multiprocessing.pool", "Pool"): _POOL,
    ("multiprocessing.pool", "ThreadPool"): _POOL,
    ("_csv", "writer"): "Make it again with the open file, csv.writer(file)",
    ("_duckdb", "DuckDBPyRelation"): "It is a query and not its rows. Run it again, or keep its rows with .df()",
    ("jinja2.environment", "Template"): "Make the template again from its text",
    ("pandas.io.excel._openpyxl", "OpenpyxlWriter"): _UNFINISHED,
    ("pandas.io.excel._xlsxwriter", "XlsxWriter"): _UNFINISHED,
    ("reportlab.pdfgen.canvas", "Canvas"): "It is a file that is not finished. Call save() to keep it",
    ("sqlalchemy.orm.session", "Session"): "An SQLAlchemy session cannot be saved. Make it again",
}


def reduced(value: Any) -> Reduced | None:
    """None for a value that pickle itself has to save. Raises PicklingError, with a reason, for one that cannot be kept."""
    kind = type(value)
    name = kind.__module__, kind.__name__
    reduce = open_files.reduced_file if isinstance(value, io.IOBase) else _REDUCERS.get(name)
    reduction = reduced_xml(value) if reduce is None else reduce(value)
    if reduction is not None:
        return reduction
    if name in _REFUSED:
        raise pickle.PicklingError(_REFUSED[name])
    if isinstance(value, logging.Handler):
        raise pickle.PicklingError("A log handler is restored with its logger. Take it from logger.handlers")
    if _is_mapped(value):
        raise pickle.PicklingError("The classes of an SQLAlchemy model cannot be saved. Run their definition again")
    needs_state = hasattr(kind, "__getattr__") and detached_objects.is_pickled_by_default(kind)
    return detached_objects.reduced_with_getattr(value) if needs_state else None


def _is_mapped(value: Any) -> bool:
    """True for a declarative class of SQLAlchemy, its base and its rows: their definition registers them."""
    if "sqlalchemy.orm" not in sys.modules:
        return False
    kind = value if isinstance(value, type) else type(value)
    return "__mapper__" in vars(kind) or type(vars(kind).get("registry")).__module__.startswith("sqlalchemy.")


def _reduced_sqlite(connection: Any) -> Reduced | None:
    from . import sqlite_connections

    return sqlite_connections.reduced_sqlite(connection)


_REDUCERS: dict[tuple[str, str], Callable[[Any], Reduced | None]] = {
    ("_thread", "lock"): detached_objects.reduced_lock,
    ("_thread", "RLock"): detached_objects.reduced_rlock,
    ("weakref", "ReferenceType"): detached_objects.reduced_reference,
    ("subprocess", "Popen"): detached_objects.reduced_program,
    ("functools", "_lru_cache_wrapper"): detached_objects.reduced_cached_function,
    ("sqlite3", "Connection"): _reduced_sqlite,
    ("sqlalchemy.engine.base", "Engine"): databases.reduced_engine,
    ("_duckdb", "DuckDBPyConnection"): databases.reduced_duckdb,
    ("pandas.io.excel._base", "ExcelFile"): open_files.reduced_workbook,
    ("pandas.io.parsers.readers", "TextFileReader"): open_files.reduced_reader,
    ("PIL.ImageDraw", "ImageDraw"): documents.reduced_drawing,
    ("pypdf._reader", "PdfReader"): documents.reduced_pdf_reader,
    ("pypdf._writer", "PdfWriter"): documents.reduced_pdf_writer,
    ("pypdf.generic._base", "IndirectObject"): documents.reduced_pdf_reference,
    ("h5py._hl.files", "File"): documents.reduced_hdf5,
}
