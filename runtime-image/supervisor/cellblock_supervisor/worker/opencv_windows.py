"""`cv2.imshow` without a display: shows the picture in the output of the cell. Loops that show every frame of a film show the first ones."""

import sys
import types
import zlib
from typing import Any

MAX_PICTURES = 8
# A loop that waits for a key this often, and shows no new picture, waits for nothing else.
_MAX_WAITS = 100
_KEYS = (ord("q"), 27)
_left = MAX_PICTURES
_waits = 0
# The checksum of the picture in each window.
_shown: dict[str, int | None] = {}


def begin_cell(*_information: object) -> None:
    global _left, _waits
    _left, _waits = MAX_PICTURES, 0
    _shown.clear()


def install(module: types.ModuleType) -> None:
    from IPython import get_ipython

    get_ipython().events.register("pre_run_cell", begin_cell)
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

    # `imencode` refuses what is no picture, such as the None of a file that OpenCV did not find.
    name, checksum = str(window), zlib.crc32(numpy.ascontiguousarray(picture)) if isinstance(picture, numpy.ndarray) else None
    if checksum is not None and _shown.get(name) == checksum:
        return
    _waits, _shown[name] = 0, checksum
    if _left == 0:
        print(f"cv2.imshow: the limit of {MAX_PICTURES} pictures of a cell is reached. Save others with cv2.imwrite.", file=sys.stderr)
    _left -= 1
    if _left < 0:
        return
    # Fractions are parts of white, as in a window.
    written = picture * 255 if getattr(getattr(picture, "dtype", None), "kind", "") == "f" else picture
    _, png = cv2.imencode(".png", written)
    display(Image(data=png.tobytes(), format="png"))


def _do_nothing(*_arguments: object, **_options: object) -> None:
    """There are no windows."""


def _key(*_arguments: object, **_options: object) -> int:
    """-1, as when no key was pressed in time. Escape and `q` by turns end a loop that does nothing but wait."""
    global _waits
    _waits += 1
    return -1 if _waits <= _MAX_WAITS else _KEYS[_waits % 2]
