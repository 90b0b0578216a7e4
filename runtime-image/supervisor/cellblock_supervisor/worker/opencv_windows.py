"""`cv2.imshow` without a display: shows the picture in the output of the cell. Loops that show every frame of a film show the first ones."""

import sys
import types
from typing import Any

MAX_PICTURES = 8
_left = MAX_PICTURES


def begin_cell(*_information: object) -> None:
    global _left
    _left = MAX_PICTURES


def install(module: types.ModuleType) -> None:
    from IPython import get_ipython

    get_ipython().events.register("pre_run_cell", begin_cell)
    cv2: Any = module
    cv2.imshow = _show
    for name in ("namedWindow", "resizeWindow", "moveWindow", "setWindowTitle", "destroyWindow", "destroyAllWindows", "startWindowThread"):
        setattr(cv2, name, _do_nothing)
    for name in ("waitKey", "waitKeyEx", "pollKey"):
        setattr(cv2, name, _no_key)


def _show(_name: object, picture: Any) -> None:
    global _left
    if _left == 0:
        print(f"cv2.imshow: the limit of {MAX_PICTURES} pictures of a cell is reached. Save others with cv2.imwrite.", file=sys.stderr)
    _left -= 1
    if _left < 0:
        return
    import cv2
    from IPython.display import Image, display

    # Fractions are parts of white, as in a window.
    written = picture * 255 if getattr(getattr(picture, "dtype", None), "kind", "") == "f" else picture
    _, png = cv2.imencode(".png", written)
    display(Image(data=png.tobytes(), format="png"))


def _do_nothing(*_arguments: object, **_options: object) -> None:
    """There are no windows."""


def _no_key(*_arguments: object, **_options: object) -> int:
    """-1, as when no key was pressed in time."""
    return -1
