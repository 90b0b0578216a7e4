"""Lets fontconfig know the names of desktop fonts, and puts fonts where programs expect those of other distributions. Runs while the image is built."""

import json
import os
import sys
from xml.sax.saxutils import escape

FONTS = "/usr/share/fonts"
CONFIGURATION = "/etc/fonts/conf.d/20-cellblock.conf"
# Names of files that fontconfig lists under the files that they lead to, and the fonts for matplotlib: emoji without colours, and scripts without rules.
REJECTED = ("/usr/local/share/fonts/aliases/*", "/usr/local/share/fonts/NotoEmoji-Regular.ttf", "/usr/local/share/fonts/NotoSansScripts-*.ttf")


def configuration(families: dict[str, list[str]], links: list[str]) -> str:
    globs = "".join(f"<glob>{escape(pattern)}</glob>\n" for pattern in (*REJECTED, *links))
    aliases = "".join(
        f'<alias binding="same"><family>{escape(name)}</family><prefer><family>{escape(family)}</family></prefer></alias>\n'
        for family, names in families.items()
        for name in names
    )
    head = '<?xml version="1.0"?>\n<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">\n'
    return f"{head}<fontconfig>\n<selectfont><rejectfont>\n{globs}</rejectfont></selectfont>\n{aliases}</fontconfig>\n"


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as table:
        aliases = json.load(table)
    links = [(f"{FONTS}/{target}", f"{FONTS}/{path}") for target, paths in aliases["paths"].items() for path in paths]
    added = []
    for target, path in links:
        if not os.path.exists(target):
            sys.exit(f"The font {target} is missing.")
        # A package of `full` or of an operator may have the real one.
        if not os.path.lexists(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            os.symlink(target, path)
            added.append(path)
    with open(CONFIGURATION, "w", encoding="utf-8") as file:
        file.write(configuration(aliases["families"], added))
