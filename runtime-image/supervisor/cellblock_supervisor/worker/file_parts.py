"""The parts of a snapshot that are files, or come from databases in memory. Imported with the first snapshot: an idle kernel does without it."""

import functools
from collections.abc import Callable, Iterator

from . import databases, file_attributes, temporary_files
from .file_attributes import FileAttributes


def readers(lost: list[dict[str, str]]) -> Iterator[tuple[str, Callable[[], object]]]:
    yield "DuckDB tables", databases.default_duckdb
    yield "temporary files", lambda: temporary_files.pack(lost)
    attributes = functools.cache(lambda: FileAttributes(lost))
    yield "folders and links", lambda: attributes().folders_and_links()
    # The last part: others may open or change files.
    yield "file attributes", lambda: attributes().modes_and_times()


APPLY: dict[str, Callable[[object], None]] = {
    "DuckDB tables": databases.load_default_duckdb,  # type: ignore[dict-item]
    "temporary files": temporary_files.unpack,  # type: ignore[dict-item]
    "folders and links": file_attributes.make_folders_and_links,  # type: ignore[dict-item]
    "file attributes": file_attributes.set_modes_and_times,  # type: ignore[dict-item]
}
