"""Matplotlib needs a writable folder for its font cache; without the image's copy it would build it again."""

import os

from ...config import HOME_DIR, INSTALL_DIR
from ..isolation.environment import WORKER_MPL_DIR


def copy_font_cache() -> None:
    """Called with the worker's identity, so that the files are the worker's."""
    try:
        os.makedirs(WORKER_MPL_DIR, exist_ok=True)
        for folder in (HOME_DIR, os.path.dirname(WORKER_MPL_DIR), WORKER_MPL_DIR):
            os.chmod(folder, 0o770)
        for name in os.listdir(f"{INSTALL_DIR}/mplcache"):
            with open(f"{INSTALL_DIR}/mplcache/{name}", "rb") as source, open(f"{WORKER_MPL_DIR}/{name}", "wb") as target:
                while os.sendfile(target.fileno(), source.fileno(), None, 1 << 20):
                    pass
    except OSError:
        # Without a writable home only speed is lost.
        pass
