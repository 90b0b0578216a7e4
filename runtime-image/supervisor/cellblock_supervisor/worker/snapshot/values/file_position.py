"""The position of an open text file as the next read of the code sees it.

`next(file)` disables `tell()`, and a flush enables it again although it then reports the end of the chunk that was read ahead. So positions are
checked by counting the characters that are left: before them starts the true position.
"""

import io
import os
import pickle

# Counting reads the file up to three times.
MAX_COUNTED_BYTES = 64 * 1024 * 1024
_PIECE_CHARACTERS = 1024 * 1024
_UNKNOWN = "Its position is not known after next(file) or a loop over its lines. Read the rest of its lines, or open it again and seek"


def text_position(file: io.TextIOWrapper) -> int:
    """A position for `seek()`; the file stays there. Raises PicklingError when it cannot be known."""
    reported = _reported(file)
    if not file.readable():
        if reported is None:
            raise pickle.PicklingError(_UNKNOWN)
        return reported
    if os.fstat(file.fileno()).st_size > MAX_COUNTED_BYTES:
        # Reads and writes of one file flush it, so only a file for reading keeps `tell()` disabled.
        if reported is None or file.writable():
            raise pickle.PicklingError(f"{_UNKNOWN}; its size is over {MAX_COUNTED_BYTES} bytes")
        return reported
    try:
        return _counted(file, reported)
    except UnicodeError:
        if reported is None or file.writable():
            raise pickle.PicklingError(f"{_UNKNOWN}; the rest of its content is not {file.encoding}") from None
        file.seek(reported)
        return reported


def _reported(file: io.TextIOWrapper) -> int | None:
    try:
        return file.tell()
    except (OSError, ValueError, OverflowError):
        return None


def _counted(file: io.TextIOWrapper, reported: int | None) -> int:
    left = _read_to_end(file)
    if reported is not None and _is_followed_by(file, reported, left):
        file.seek(reported)
        return reported
    file.seek(0)
    consumed = _read_to_end(file) - left
    file.seek(0)
    while consumed > 0:
        # The content may have become shorter meanwhile.
        count = len(file.read(min(consumed, _PIECE_CHARACTERS)))
        if count == 0:
            break
        consumed -= count
    return file.tell()


def _is_followed_by(file: io.TextIOWrapper, position: int, count: int) -> bool:
    """Whether `count` characters follow the position. A wrong position may be inside a character."""
    try:
        file.seek(position)
        return _read_to_end(file) == count
    except (OSError, ValueError, OverflowError):
        return False


def _read_to_end(file: io.TextIOWrapper) -> int:
    """The number of characters up to the end."""
    total = 0
    while count := len(file.read(_PIECE_CHARACTERS)):
        total += count
    return total
