"""`cv2.imshow` without a display: shows the picture in the output of the cell. Loops that show every frame of a film show the first ones."""

import sys
import types
import zlib
from typing import Any

MAX_PICTURES = 8
# A loop that waits for a key this often without a new picture waits for a person, who is not there.
_MAX_WAITS = 2_000
_KEYS = (ord("q"), 27)
_left = MAX_PICTURES
_waits = 0
# Window, shape, type and checksum of the pictures that this cell has shown.
_shown: set[tuple[str, tuple[int, ...], str, int]] = set()


def begin_cell(*_information: object) -> None:
    global _left, _waits
    _left, _waits = MAX_PICTURES, 0
    _shown.clear()


def install(module: types.ModuleType, shell: Any) -> None:
    shell.events.register("pre_run_cell", begin_cell)
    cv2: Any = module
    cv2.imshow = _show
    for name in ("namedWindow", "resizeWindow", "moveWindow", "setWindowTitle", "destroyWindow", "destroyAllWindows", "startWindowThread"):
        setattr(cv2, name, _do_nothing)
    for name in ("waitKey", "waitKeyEx", "pollKey"):
        setattr(cv2, name, _key)


def _show(window: object, picture: Any) -> None:
    global _left, _waits
    import cv2
    import numpy
    from IPython.display import Image, display

    if isinstance(picture, cv2.UMat):
        picture = picture.get()
    if isinstance(picture, numpy.ndarray):
        identity = (str(window), picture.shape, picture.dtype.str, zlib.crc32(numpy.ascontiguousarray(picture)))
        if identity in _shown:
            return
        _shown.add(identity)
    _waits = 0
    if _left == 0:
        print(f"cv2.imshow: the limit of {MAX_PICTURES} pictures of a cell is reached. Save others with cv2.imwrite.", file=sys.stderr)
    _left -= 1
    if _left < 0:
        return
    # Fractions are parts of white, as in a window.
    written = picture * 255 if getattr(getattr(picture, "dtype", None), "kind", "") == "f" else picture
    try:
        _, png = cv2.imencode(".png", written)
    except cv2.error:
        # It was not shown: the next call fails too.
        _shown.clear()
        raise
    display(Image(data=png.tobytes(), format="png"))


def _do_nothing(*_arguments: object, **_options: object) -> None:
    """There are no windows."""


def _key(*_arguments: object, **_options: object) -> int:
    """-1, as when no key was pressed in time. Escape and `q` by turns end a loop that does nothing but wait."""
    global _waits
    _waits += 1
    if _waits <= _MAX_WAITS:
        return -1
    if _waits == _MAX_WAITS + 1:
        print(
            f"cv2.waitKey: the sandbox has no keyboard. After {_MAX_WAITS} waits without a new picture it answers Escape and q by turns.",
            file=sys.stderr,
        )
    return _KEYS[_waits % 2]
