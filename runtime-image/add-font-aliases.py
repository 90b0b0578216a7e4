"""Lets programs name the fonts that they expect on a desktop: in matplotlib's list of fonts, and as files that Pillow finds by name.

Fontconfig has such names by itself. Runs while the image is built, after matplotlib has written its list.
"""

import copy
import glob
import os
import sys

from matplotlib import font_manager

FAMILIES = {
    "Liberation Sans": (
        "Arial", "Helvetica", "Helvetica Neue", "Calibri", "Segoe UI", "Tahoma", "Verdana", "Trebuchet MS", "Roboto", "Open Sans", "Lato", "Inter",
        "Lucida Grande", "Ubuntu", "Source Sans Pro", "Noto Sans", "FreeSans", "Arimo",
    ),
    "Liberation Serif": ("Times New Roman", "Times", "Georgia", "Cambria", "Garamond", "Palatino", "Noto Serif", "FreeSerif", "Tinos"),
    "Liberation Mono": ("Courier New", "Courier", "Consolas", "Menlo", "Monaco", "Roboto Mono", "Noto Sans Mono", "Cousine"),
    "Noto Sans CJK JP": (
        "SimHei", "SimSun", "Microsoft YaHei", "PingFang SC", "Heiti SC", "Heiti TC", "STHeiti", "Arial Unicode MS", "WenQuanYi Zen Hei", "WenQuanYi Micro Hei",
        "Source Han Sans SC", "Source Han Sans CN", "Noto Sans CJK SC", "Noto Sans CJK TC", "Noto Sans CJK KR", "Noto Sans SC", "Noto Sans TC", "Noto Sans JP",
        "Noto Sans KR", "MS Gothic", "Yu Gothic", "Meiryo", "Hiragino Sans", "IPAexGothic", "IPAGothic", "TakaoGothic", "Malgun Gothic", "NanumGothic", "AppleGothic",
    ),
}  # fmt: skip
FILES = {
    "LiberationSans-Regular": ("arial", "Arial", "Helvetica", "helvetica", "calibri", "verdana", "Verdana", "tahoma", "segoeui", "Roboto-Regular", "OpenSans-Regular"),
    "LiberationSans-Bold": ("arialbd", "Arial Bold", "Arial_Bold", "Arial-Bold", "Helvetica-Bold", "calibrib", "verdanab", "Roboto-Bold", "OpenSans-Bold"),
    "LiberationSans-Italic": ("ariali", "Arial Italic", "Arial_Italic", "calibrii"),
    "LiberationSerif-Regular": ("times", "Times", "Times New Roman", "TimesNewRoman", "georgia", "Georgia"),
    "LiberationSerif-Bold": ("timesbd", "Times New Roman Bold"),
    "LiberationMono-Regular": ("cour", "Courier", "Courier New", "CourierNew", "consola"),
    "LiberationMono-Bold": ("courbd", "Courier New Bold"),
}  # fmt: skip


def add_families(cache: str) -> None:
    manager = font_manager.fontManager
    known = {entry.name for entry in manager.ttflist}
    for family, names in FAMILIES.items():
        faces = [entry for entry in manager.ttflist if entry.name == family]
        if not faces:
            sys.exit(f"The font {family} is missing.")
        for name in names:
            if name in known:
                continue
            for face in faces:
                alias = copy.copy(face)
                object.__setattr__(alias, "name", name)
                manager.ttflist.append(alias)
    font_manager.json_dump(manager, cache)


def add_files(folder: str) -> None:
    os.makedirs(folder)
    for target, names in FILES.items():
        for name in names:
            os.symlink(f"/usr/share/fonts/truetype/liberation/{target}.ttf", f"{folder}/{name}.ttf")


if __name__ == "__main__":
    add_families(glob.glob("/opt/cellblock/mplcache/fontlist-*.json")[0])
    add_files("/usr/local/share/fonts/aliases")
