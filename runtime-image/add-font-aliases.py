"""Lets programs name the fonts that they expect on a desktop: in matplotlib's list of fonts, and as files that Pillow finds by name.

Runs while the image is built, after matplotlib has written its list.
"""

import copy
import glob
import json
import os
import sys

from matplotlib import font_manager


def add_families(cache: str, families: dict[str, list[str]]) -> None:
    manager = font_manager.fontManager
    known = {entry.name for entry in manager.ttflist}
    for family, names in families.items():
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


def add_files(folder: str, files: dict[str, list[str]]) -> None:
    os.makedirs(folder)
    for target, names in files.items():
        path = f"/usr/share/fonts/{target}"
        if not os.path.exists(path):
            sys.exit(f"The font {path} is missing.")
        for name in names:
            os.symlink(path, f"{folder}/{name}")


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as table:
        aliases = json.load(table)
    add_families(glob.glob("/opt/cellblock/mplcache/fontlist-*.json")[0], aliases["families"])
    add_files("/usr/local/share/fonts/aliases", aliases["files"])
