"""Explains a failed import: the module is not installed, what can be installed without a network, and what is similar."""

import difflib
import importlib.util
import os
import pkgutil
import re
import sys

from ..config import WHEELHOUSE_DIR

_MAX_SIMILAR = 3
# By purpose, where the names are not alike.
_ALTERNATIVES = {
    "altair": ("plotly", "seaborn"),
    "bokeh": ("plotly", "matplotlib"),
    "camelot": ("pdfplumber",),
    "catboost": ("lightgbm", "xgboost", "sklearn"),
    "cv2": ("skimage", "PIL"),
    "dask": ("pandas",),
    "fitz": ("pypdf", "pdfplumber", "pypdfium2"),
    "fuzzywuzzy": ("thefuzz", "rapidfuzz"),
    "geopandas": ("shapely", "plotly"),
    "keras": ("sklearn",),
    "lightgbm": ("xgboost", "sklearn"),
    "mammoth": ("docx",),
    "markitdown": ("docx", "pptx", "pdfplumber"),
    "modin": ("pandas",),
    "polars": ("pandas",),
    "pymupdf": ("pypdf", "pdfplumber", "pypdfium2"),
    "skimage": ("PIL", "scipy"),
    "statsmodels": ("scipy", "sklearn"),
    "tabula": ("pdfplumber",),
    "tensorflow": ("sklearn",),
    "torch": ("sklearn",),
    "xgboost": ("lightgbm", "sklearn"),
}
# Packages whose module has another name and whose installed variant has another name too.
_MODULES = {
    "beautifulsoup4": "bs4",
    "opencv_contrib_python": "cv2",
    "opencv_contrib_python_headless": "cv2",
    "opencv_python": "cv2",
    "pillow_simd": "PIL",
    "psycopg2_binary": "psycopg2",
    "psycopg_binary": "psycopg",
    "python_docx": "docx",
    "python_pptx": "pptx",
    "pyyaml": "yaml",
    "scikit_learn": "sklearn",
    "sklearn": "sklearn",
}


def explain(error: BaseException) -> None:
    """Completes the message of a ModuleNotFoundError; leaves every other exception as it is."""
    if not isinstance(error, ModuleNotFoundError) or not error.name or " is not installed and " in str(error):
        return
    name = error.name.partition(".")[0]
    if not is_installed(name):
        error.msg = f"{error.msg}. {sentence(name)}"


def module_of(distribution: str) -> str | None:
    """The module that an installed package with this or a related name provides, such as `cv2` for `opencv-python`; None without one."""
    import importlib.metadata

    wanted = _normalized(distribution)
    wanted = _MODULES.get(wanted, wanted)
    by_module = importlib.metadata.packages_distributions()
    for module, packages in by_module.items():
        if not module.startswith("_") and wanted in (_normalized(package) for package in packages):
            return module
    return wanted if wanted in by_module and is_installed(wanted) else None


def sentence(name: str) -> str:
    if _normalized(name) in wheels():
        return f"`{name}` is not installed. `pip install {name}` installs it from the wheelhouse of this sandbox."
    found = similar(name)
    hint = f" Similar: {', '.join(found)}." if found else ""
    return f"`{name}` is not installed and this sandbox has no network, so it cannot be installed.{hint}"


def wheels() -> set[str]:
    """Normalized names of the packages in the operator's wheelhouse; none where there is no wheelhouse."""
    try:
        return {_normalized(name.partition("-")[0]) for name in os.listdir(WHEELHOUSE_DIR) if name.endswith(".whl")}
    except OSError:
        return set()


def _normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "_", name).lower()


def is_installed(name: str) -> bool:
    try:
        return name in sys.modules or importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def similar(name: str) -> list[str]:
    alternatives = [other for other in _ALTERNATIVES.get(name.lower(), ()) if is_installed(other)]
    names = {module.name for module in pkgutil.iter_modules()} | sys.stdlib_module_names
    alike = difflib.get_close_matches(name, [other for other in names if not other.startswith("_") and other != name], _MAX_SIMILAR, 0.7)
    return list(dict.fromkeys([*alternatives, *alike]))[:_MAX_SIMILAR]
