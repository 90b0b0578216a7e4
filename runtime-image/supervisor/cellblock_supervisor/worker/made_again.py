"""How values are saved that hold no data themselves, but that pickle refuses: locks that are free, references, drawing contexts.

Pickles refer to the public functions of this module; they keep their names and arguments. Values that would be wrong in another process are refused.
"""

import copyreg
import io
import logging
import os
import pickle
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any

from . import databases
from .databases import Reduced

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


def made_again(value: Any) -> Reduced | None:
    """None for a value that is not of this kind. Raises PicklingError, with a reason, for one that cannot be kept."""
    kind = type(value)
    name = kind.__module__, kind.__name__
    if name in _REFUSED:
        raise pickle.PicklingError(_REFUSED[name])
    if isinstance(value, logging.Handler):
        raise pickle.PicklingError("A log handler is restored with its logger. Take it from logger.handlers")
    if _is_mapped(value):
        raise pickle.PicklingError("The classes of an SQLAlchemy model cannot be saved. Run their definition again")
    reduce = _REDUCERS.get(name)
    if reduce is None:
        return _reduced_with_getattr(value) if hasattr(kind, "__getattr__") and _is_pickled_by_default(kind) else None
    return reduce(value)


def _is_pickled_by_default(kind: type) -> bool:
    is_default = kind.__reduce_ex__ is object.__reduce_ex__ and kind.__reduce__ is object.__reduce__
    return is_default and kind not in copyreg.dispatch_table and not hasattr(kind, "__setstate__") and not issubclass(kind, type)


def _reduced_with_getattr(value: Any) -> Reduced:
    """Pickle would ask the empty object for `__setstate__`, and its `__getattr__` needs attributes that it does not have yet."""
    made, arguments, state, *items = value.__reduce_ex__(2)
    return (made, arguments) if state is None else (made, arguments, state, *items, set_state)  # type: ignore[return-value]


def set_state(value: Any, state: Any) -> None:
    attributes, slots = state if isinstance(state, tuple) else (state, {})
    if attributes:
        object.__getattribute__(value, "__dict__").update(attributes)
    for name, content in slots.items():
        object.__setattr__(value, name, content)


def _is_mapped(value: Any) -> bool:
    """True for a declarative class of SQLAlchemy, its base and its rows: their definition registers them."""
    if "sqlalchemy.orm" not in sys.modules:
        return False
    kind = value if isinstance(value, type) else type(value)
    return "__mapper__" in vars(kind) or type(vars(kind).get("registry")).__module__.startswith("sqlalchemy.")


def _reduced_lock(lock: Any) -> Reduced:
    if lock.locked():
        raise pickle.PicklingError("It is a lock that is held or waited for. Release it to keep it")
    return threading.Lock, ()


def _reduced_rlock(lock: Any) -> Reduced:
    if repr(lock).startswith("<locked"):
        raise pickle.PicklingError("It is a lock that is held. Release it to keep it")
    return threading.RLock, ()


def _reduced_reference(reference: Any) -> Reduced | None:
    if reference.__callback__ is not None:
        return None
    target = reference()
    return (dead_reference, ()) if target is None else (weakref.ref, (target,))


def dead_reference() -> Any:
    return weakref.ref(type("Removed", (), {})())


def _reduced_program(program: Any) -> None:
    if program.poll() is None:
        raise pickle.PicklingError("A running program cannot be saved. Start it again")


def _reduced_drawing(drawing: Any) -> Reduced:
    return draw_on, (drawing._image, drawing.mode, {name: value for name, value in vars(drawing).items() if name in ("font", "fill", "fontmode")})


def draw_on(image: Any, mode: str, settings: dict[str, Any]) -> Any:
    from PIL import ImageDraw

    drawing = ImageDraw.Draw(image, mode)
    vars(drawing).update(settings)
    return drawing


def _reduced_pdf_reader(reader: Any) -> Reduced:
    if reader.is_encrypted:
        raise pickle.PicklingError("It is encrypted. Open it again with its password")
    place = reader.stream.tell()
    reader.stream.seek(0)
    content = reader.stream.read()
    reader.stream.seek(place)
    return load_pdf_reader, (content,)


def load_pdf_reader(content: bytes) -> Any:
    from pypdf import PdfReader

    return PdfReader(io.BytesIO(content))


def _reduced_pdf_reference(reference: Any) -> Reduced:
    """Its `__getattr__` would ask the file before it has one."""
    return type(reference), (reference.idnum, reference.generation, reference.pdf)


def _reduced_pdf_writer(writer: Any) -> Reduced:
    content = io.BytesIO()
    writer.write(content)
    return load_pdf_writer, (content.getvalue(),)


def load_pdf_writer(content: bytes) -> Any:
    from pypdf import PdfWriter

    return PdfWriter(clone_from=io.BytesIO(content))


def _reduced_hdf5(file: Any) -> Reduced:
    if not file:
        raise pickle.PicklingError("It is closed. Open it again with h5py.File")
    file.flush()
    return open_hdf5, (os.path.abspath(file.filename), "r" if file.mode == "r" else "r+")


def open_hdf5(path: str, mode: str) -> Any:
    import h5py

    return h5py.File(path, mode)


# Snapshots of earlier versions refer to it.
load_duckdb = databases.load_duckdb


_REDUCERS: dict[tuple[str, str], Callable[[Any], Reduced | None]] = {
    ("_thread", "lock"): _reduced_lock,
    ("_thread", "RLock"): _reduced_rlock,
    ("weakref", "ReferenceType"): _reduced_reference,
    ("subprocess", "Popen"): _reduced_program,
    ("PIL.ImageDraw", "ImageDraw"): _reduced_drawing,
    ("pypdf._reader", "PdfReader"): _reduced_pdf_reader,
    ("pypdf._writer", "PdfWriter"): _reduced_pdf_writer,
    ("pypdf.generic._base", "IndirectObject"): _reduced_pdf_reference,
    ("h5py._hl.files", "File"): _reduced_hdf5,
    ("_duckdb", "DuckDBPyConnection"): databases.reduced_duckdb,
}
