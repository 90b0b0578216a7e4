"""The worker's whole environment. Nothing of the supervisor's is passed on: on some platforms it names the account."""

import os
import sys

from ...config import HOME_DIR, PACKAGES_DIR

THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
WORKER_MPL_DIR = f"{HOME_DIR}/.config/matplotlib"
# WordCloud reads the variable; its own font has no Chinese, Japanese and Korean.
_WORD_CLOUD_FONT = "/usr/share/fonts/truetype/wqy/wqy-microhei.ttc"
_SEABORN_DATA = "/usr/local/share/seaborn-data"
# Node.js loads these files first.
_NODE_FILES = tuple(os.path.join(os.path.dirname(__file__), f"node_{name}.cjs") for name in ("outputs", "processors", "home"))


def worker_environment(cpus: int | None = None) -> dict[str, str]:
    """`cpus` is the processor limit of the sandbox; without it programs count the processors of the host."""
    return {
        "PATH": f"/usr/local/bin:/usr/bin:/bin:{PACKAGES_DIR}/bin",
        "HOME": HOME_DIR,
        "USER": "worker",
        "LOGNAME": "worker",
        "SHELL": "/bin/bash",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        # Modules of /mnt/data must not leave caches among the user's files. A folder for caches would hide the bytecode of the image.
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUSERBASE": PACKAGES_DIR,
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "MPLCONFIGDIR": WORKER_MPL_DIR,
        **{name: "1" for name in THREAD_VARIABLES},
        **({"FONT_PATH": _WORD_CLOUD_FONT} if os.path.exists(_WORD_CLOUD_FONT) else {}),
        **({"SEABORN_DATA": _SEABORN_DATA} if os.path.exists(_SEABORN_DATA) else {}),
        # One of the files that Node.js loads first reads the variable.
        **({} if cpus is None else {"PYTHON_CPU_COUNT": str(cpus)}),
        "NODE_OPTIONS": " ".join(f"--require={file}" for file in _NODE_FILES),
    }


def find_installed_packages() -> None:
    """As for a program: packages that code installs come before those of the image. The folder must exist to be found later."""
    folder = f"{PACKAGES_DIR}/lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
    os.makedirs(folder, exist_ok=True)
    at = next((index for index, entry in enumerate(sys.path) if entry.endswith("dist-packages")), len(sys.path))
    sys.path.insert(at, folder)
