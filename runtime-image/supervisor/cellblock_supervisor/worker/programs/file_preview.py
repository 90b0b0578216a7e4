"""A preview of a file for people who choose one: first lines of text, first rows of a table, a thumbnail of an image. Runs in the sandbox, because the file is untrusted."""

import base64
import codecs
import io
import os
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas

MAX_ROWS = 100
MAX_COLUMNS = 50
MAX_CELL_CHARACTERS = 200
MAX_PIXELS = 1024
_MAX_TEXT_BYTES = 64 * 1024
_MAX_IMAGE_PIXELS = 100_000_000
_DELIMITED = {".csv": ",", ".tsv": "\t"}
_SHEETS = frozenset((".xlsx", ".xlsm", ".xls", ".ods"))
_COLUMNS = frozenset((".parquet", ".feather"))
_IMAGES = frozenset((".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".ico"))

_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}

Preview = dict[str, object]


def preview(path: str, rows: int, pixels: int) -> Preview:
    """`kind` is `table`, `image`, `text` or `binary`. A file that cannot be read as its name says is shown as text or binary."""
    extension = os.path.splitext(path)[1].lower()
    rows, pixels = max(1, min(rows, MAX_ROWS)), max(16, min(pixels, MAX_PIXELS))
    try:
        if extension in _DELIMITED:
            return _delimited(path, rows, extension)
        if extension in _SHEETS or extension in _COLUMNS:
            return _frame(path, rows, extension)
        if extension in _IMAGES:
            return _image(path, pixels)
    except ImportError as error:
        return {**_text(path, rows), "problem": _missing(error)}
    except Exception as error:
        return {**_text(path, rows), "problem": f"The file cannot be read as {extension}. {type(error).__name__}: {error}"[:300]}
    return _text(path, rows)


def _missing(error: ImportError) -> str:
    """pandas names a library that it lacks only in its sentence, which proposes pip."""
    named = re.search(r"dependency '(\w+)'", str(error))
    library = named[1] if named else error.name
    return f"The preview needs the library {library}, which the image of this container lacks. Download the file, or use an image that has it."


def _delimited(path: str, rows: int, extension: str) -> Preview:
    import csv

    head, is_cut = _head(path)
    if b"\0" in head and _encoding(head) is None:
        return _text(path, rows)
    text = _decoded(head)
    first, _, others = text.partition("\n")
    # Excel's own line about the separator is no row.
    named = first.rstrip("\r")[4:] if first.lower().startswith("sep=") else ""
    try:
        dialect: object = csv.Sniffer().sniff(others if named else text, named or ",;\t|")
    except csv.Error:
        dialect = csv.excel_tab if _DELIMITED[extension] == "\t" else csv.excel
    lines = list(csv.reader(io.StringIO(others if named else text, newline=""), dialect))  # type: ignore[arg-type]
    # The last line may have been cut.
    if is_cut:
        lines = lines[:-1]
    columns, body = (lines[0], lines[1:]) if lines else ([], [])
    return _table(columns, body[:rows], is_truncated=is_cut or len(body) > rows)


def _frame(path: str, rows: int, extension: str) -> Preview:
    import pandas

    sheets: list[str] = []
    if extension in _COLUMNS:
        frame = _columns(path, rows + 1, extension)
    else:
        with pandas.ExcelFile(path) as book:
            sheets = [str(name) for name in book.sheet_names]
            frame = book.parse(nrows=rows + 1)
    values = frame.head(rows).astype(object).where(frame.head(rows).notna(), None).values.tolist()
    table = _table([str(name) for name in frame.columns], values, is_truncated=len(frame) > rows)
    return {**table, **({"sheets": sheets[:MAX_COLUMNS]} if sheets else {})}


def _columns(path: str, rows: int, extension: str) -> "pandas.DataFrame":
    """The first rows; a file without a batch has only the names of its columns."""
    import pyarrow.ipc
    import pyarrow.parquet

    if extension == ".parquet":
        file = pyarrow.parquet.ParquetFile(path)
        batch, schema = next(file.iter_batches(rows), None), file.schema_arrow
    else:
        reader = pyarrow.ipc.open_file(path)
        batch, schema = reader.get_batch(0).slice(0, rows) if reader.num_record_batches else None, reader.schema
    return (schema.empty_table() if batch is None else batch).to_pandas()


def _table(columns: list[str], body: list[list[object]], *, is_truncated: bool) -> Preview:
    cut = is_truncated or len(columns) > MAX_COLUMNS
    return {
        "kind": "table",
        "columns": [_cell(name) for name in columns[:MAX_COLUMNS]],
        "rows": [[_cell(value) for value in row[:MAX_COLUMNS]] for row in body],
        "is_truncated": cut,
    }


def _cell(value: object) -> str | None:
    return None if value is None else str(value)[:MAX_CELL_CHARACTERS]


def _image(path: str, pixels: int) -> Preview:
    from PIL import Image

    Image.MAX_IMAGE_PIXELS = _MAX_IMAGE_PIXELS
    with Image.open(path) as image:
        width, height, kind = image.width, image.height, image.format
        if width * height > _MAX_IMAGE_PIXELS:
            raise ValueError(f"{width} × {height} pixels are too many for a thumbnail")
        image.thumbnail((pixels, pixels))
        thumbnail = io.BytesIO()
        image.convert("RGBA").save(thumbnail, "PNG")
    return {
        "kind": "image",
        "format": kind,
        "width": width,
        "height": height,
        "thumbnail": base64.b64encode(thumbnail.getvalue()).decode() if thumbnail.tell() <= 512 * 1024 else None,
    }


def _text(path: str, rows: int) -> Preview:
    head, is_cut = _head(path)
    if b"\0" in head and _encoding(head) is None:
        return {"kind": "binary", "hex": head[:64].hex(" ")}
    lines = _decoded(head).splitlines()
    return {"kind": "text", "lines": [line[:1_000] for line in lines[:rows]], "is_truncated": is_cut or len(lines) > rows}


def _head(path: str) -> tuple[bytes, bool]:
    """The first bytes, and whether there are more."""
    with open(path, "rb") as file:
        return file.read(_MAX_TEXT_BYTES), file.read(1) != b""


def _encoding(head: bytes) -> str | None:
    return next((name for mark, name in _MARKS.items() if head.startswith(mark)), None)


def _decoded(head: bytes) -> str:
    """A byte-order mark decides; other text is UTF-8 if it is valid, and otherwise what Excel writes: Windows-1252."""
    encoding = _encoding(head)
    if encoding is None:
        try:
            # The last character may have been cut.
            return codecs.getincrementaldecoder("utf-8")().decode(head)
        except UnicodeDecodeError:
            return head.decode("cp1252", "replace")
    return codecs.getincrementaldecoder(encoding)("replace").decode(head)
