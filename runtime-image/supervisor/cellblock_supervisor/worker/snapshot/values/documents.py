"""How drawings of Pillow, PDF files of pypdf and HDF5 files are saved.

Pickles refer to the public functions of this module; they keep their names and arguments.
"""

import io
import os
import pickle
from typing import Any

from .reduction import Reduced


def reduced_drawing(drawing: Any) -> Reduced:
    return draw_on, (drawing._image, drawing.mode, {name: value for name, value in vars(drawing).items() if name in ("font", "fill", "fontmode")})


def draw_on(image: Any, mode: str, settings: dict[str, Any]) -> Any:
    from PIL import ImageDraw

    drawing = ImageDraw.Draw(image, mode)
    vars(drawing).update(settings)
    return drawing


def reduced_pdf_reader(reader: Any) -> Reduced:
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


def reduced_pdf_reference(reference: Any) -> Reduced:
    """Its `__getattr__` would ask the file before it has one."""
    return type(reference), (reference.idnum, reference.generation, reference.pdf)


def reduced_pdf_writer(writer: Any) -> Reduced:
    content = io.BytesIO()
    writer.write(content)
    return load_pdf_writer, (content.getvalue(),)


def load_pdf_writer(content: bytes) -> Any:
    from pypdf import PdfWriter

    return PdfWriter(clone_from=io.BytesIO(content))


def reduced_hdf5(file: Any) -> Reduced:
    if not file:
        raise pickle.PicklingError("It is closed. Open it again with h5py.File")
    file.flush()
    return open_hdf5, (os.path.abspath(file.filename), "r" if file.mode == "r" else "r+")


def open_hdf5(path: str, mode: str) -> Any:
    import h5py

    return h5py.File(path, mode)
