"""Makes one font of those of many scripts, for matplotlib: it searches every family of its list for each text, and draws character by character.

Runs while the image is built. Other programs use the fonts of the scripts, which have the rules that join characters.
"""

import os
import sys

from fontTools.merge import Merger, Options
from fontTools.subset import Subsetter
from fontTools.ttLib import TTFont
from fontTools.ttLib.scaleUpem import scale_upem

FAMILY = "Noto Sans Scripts"
UNITS_PER_EM = 1000
RULES = ("GSUB", "GPOS", "GDEF", "kern", "DSIG", "vhea", "vmtx", "VORG", "hdmx", "VDMX", "LTSH", "fpgm", "prep", "cvt ", "gasp")
# The first character after the scripts that matplotlib's own font has.
FIRST = 0x0700
# Texts with formulas are drawn with one font, so this one has the Latin characters too.
LATIN = "/usr/share/fonts/truetype/liberation/LiberationSans"
LAST_LATIN = 0x017F


def merged(paths: list[str], style: str, folder: str) -> TTFont:
    parts = []
    for path in paths:
        font = TTFont(path)
        if font["head"].unitsPerEm != UNITS_PER_EM:
            scale_upem(font, UNITS_PER_EM)
        for table in RULES:
            if table in font:
                del font[table]
        subsetter = Subsetter()
        subsetter.populate(unicodes=[code for code in font.getBestCmap() if (code <= LAST_LATIN if path.startswith(LATIN) else code >= FIRST)])
        subsetter.subset(font)
        parts.append(f"{folder}/{len(parts)}.ttf")
        font.save(parts[-1])
    font = Merger(Options(drop_tables=["GSUB", "GPOS", "GDEF"])).merge(parts)
    names = {1: FAMILY, 2: style, 4: f"{FAMILY} {style}", 6: f"NotoSansScripts-{style}", 16: FAMILY, 17: style}
    for record in font["name"].names:
        record.string = names.get(record.nameID, record.toUnicode())
    return font


if __name__ == "__main__":
    source, target = sys.argv[1:]
    scripts = sorted(name.removesuffix("-Regular.ttf") for name in os.listdir(source) if name.endswith("-Regular.ttf"))
    os.makedirs("/tmp/fonts")
    for style in ("Regular", "Bold"):
        paths = [path for script in scripts if os.path.exists(path := f"{source}/{script}-{style}.ttf")]
        merged([f"{LATIN}-{style}.ttf", *paths], style, "/tmp/fonts").save(f"{target}/NotoSansScripts-{style}.ttf")
