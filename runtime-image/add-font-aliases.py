"""Lets programs name the fonts that they expect on a desktop: in matplotlib's list of fonts, and as files that libraries find by name.

Runs while the image is built, after matplotlib has written its list.
"""

import copy
import glob
import json
import os
import sys

from matplotlib import font_manager

EMOJI = "Noto Emoji"
# matplotlib reads only the first face of a collection. The others have the same characters.
FIRST_FACE = "Noto Sans CJK JP"
EMOJI_FILE = "/usr/local/share/fonts/NotoEmoji-Regular.ttf"
# PDF libraries cannot embed the outlines of Noto CJK.
COLLECTION = "opentype/noto/NotoSansCJK-"
TRUETYPE = "/usr/share/fonts/truetype/wqy/wqy-microhei.ttc"
FOLDERS = [f"/usr/share/fonts/truetype/{name}" for name in ("dejavu", "liberation", "noto", "wqy")]
FPDF_FONTS = "/usr/local/lib/python3.13/dist-packages/fpdf/font"


def add_families(cache: str, families: dict[str, list[str]]) -> None:
    manager = font_manager.fontManager
    known = {entry.name for entry in manager.ttflist}
    for family, names in families.items():
        first = FIRST_FACE if family.startswith("Noto Sans CJK") else family
        faces = [entry for entry in manager.ttflist if entry.name == first]
        if not faces:
            sys.exit(f"The font {first} is missing.")
        for name in [family, *names]:
            if name in known:
                continue
            for face in faces:
                alias = copy.copy(face)
                object.__setattr__(alias, "name", name)
                manager.ttflist.append(alias)
    font_manager.json_dump(manager, cache)


def add_files(folder: str, files: dict[str, list[str]]) -> None:
    os.makedirs(folder)
    for path, names in files.items():
        if not os.path.exists(path):
            sys.exit(f"The font {path} is missing.")
        for name in names:
            os.symlink(path, f"{folder}/{name}")


def add_pdf_fonts(folder: str, sources: list[str]) -> None:
    """In the folder where fpdf2 looks for the name of a font file. Of equal names the first source's is taken."""
    os.makedirs(folder)
    for source in sources:
        for name in os.listdir(source):
            if not os.path.lexists(f"{folder}/{name}"):
                os.symlink(f"{source}/{name}", f"{folder}/{name}")


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as table:
        aliases = json.load(table)
    add_families(glob.glob("/opt/cellblock/mplcache/fontlist-*.json")[0], {**aliases["families"], EMOJI: aliases["drawn_emoji"]})
    files = {f"/usr/share/fonts/{target}": names for target, names in aliases["files"].items()}
    add_files("/usr/local/share/fonts/aliases", {**files, EMOJI_FILE: aliases["emoji_files"]})
    collections = [name for target, names in aliases["files"].items() if target.startswith(COLLECTION) for name in names]
    add_files("/usr/local/share/truetype-aliases", {TRUETYPE: collections})
    add_pdf_fonts(FPDF_FONTS, [*FOLDERS, "/usr/local/share/truetype-aliases", "/usr/local/share/fonts/aliases"])
