"""Changes lines of installed libraries. Runs while the image is built, before the bytecode is made.

The changes hold in every process, also in scripts that code starts. A line that an update has changed ends the build.
"""

import pathlib
import sys

FOLDER = pathlib.Path("/usr/local/lib/python3.13/dist-packages")
FONT_FOLDERS = (
    "/usr/local/share/truetype-aliases",
    "/usr/local/share/fonts/aliases",
    "/usr/share/fonts/truetype/dejavu",
    "/usr/share/fonts/truetype/liberation",
    "/usr/share/fonts/truetype/wqy",
)

# Library file, its text, and the text in its place.
CHANGES = (
    # Characters that the chosen fonts lack come from these: styles such as seaborn's replace `font.family`, so no setting can hold them.
    (
        "matplotlib/font_manager.py",
        """                raise ValueError("Failed to find any font, and fallback "
                                 "to the default font was disabled")

        return fpaths
""",
        """                raise ValueError("Failed to find any font, and fallback "
                                 "to the default font was disabled")

        for family in ("Noto Sans CJK JP", "Noto Emoji") if fontext == "ttf" else ():
            cprop = prop.copy()
            cprop.set_file(None)
            cprop.set_family(family)
            try:
                fpaths.append(self.findfont(cprop, fontext, directory, fallback_to_default=False, rebuild_if_missing=rebuild_if_missing))
            except ValueError:
                pass
        return list(dict.fromkeys(fpaths))
""",
    ),
    # Once for each family instead of once for each text.
    (
        "matplotlib/font_manager.py",
        """                    _log.warning("findfont: Font family %r not found.", family)
""",
        """                    self.missing = getattr(self, "missing", set())
                    if family not in self.missing:
                        _log.warning("findfont: Font family %r not found.", family)
                    self.missing.add(family)
""",
    ),
    ("fpdf/fpdf.py", 'for parent in (Path("."), FPDF_FONT_DIR):', f'for parent in (Path("."), FPDF_FONT_DIR, *map(Path, {FONT_FOLDERS!r})):'),
    # ReportLab embeds TrueType outlines only, and looks for the name of a file in its folders.
    ("reportlab/rl_settings.py", "\nTTFSearchPath = (\n", f"\nTTFSearchPath = (\n*{FONT_FOLDERS!r},\n"),
    (
        "reportlab/pdfbase/ttfonts.py",
        """    from reportlab.lib.utils import rl_isfile, open_for_read
    try:
        f = open_for_read(fn,'rb')
        return fn, f
    except IOError:
        import os
        if not os.path.isabs(fn):
            for D in _ttf_dirs(*rl_config.TTFSearchPath):
                tfn = os.path.join(D,fn)
""",
        """    from reportlab.lib.utils import rl_isfile, open_for_read
    import os
    if isinstance(fn, str) and os.path.realpath(fn).startswith('/usr/share/fonts/opentype/noto/'):
        fn = '/usr/share/fonts/truetype/wqy/wqy-microhei.ttc'
    try:
        f = open_for_read(fn,'rb')
        return fn, f
    except IOError:
        if isinstance(fn, str):
            for D in _ttf_dirs(*rl_config.TTFSearchPath):
                tfn = os.path.join(D,os.path.basename(fn.replace(chr(92),'/')))
""",
    ),
    # The fonts of Noto CJK are more than those of the collection in its place. All have the same characters.
    (
        "reportlab/pdfbase/ttfonts.py",
        "            pos = self.subfontOffsets[subfontIndex]\n",
        "            pos = self.subfontOffsets[0 if self.filename.endswith('wqy-microhei.ttc') else subfontIndex]\n",
    ),
    # The font of word clouds lacks Chinese, Japanese and Korean.
    (
        "wordcloud/wordcloud.py",
        """        # make sure frequencies are sorted and normalized
""",
        """        if self.font_path == FONT_PATH and any(0x2E80 <= ord(one) <= 0xFFEF for word in frequencies for one in str(word)):
            self.font_path = '/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc'
        # make sure frequencies are sorted and normalized
""",
    ),
)


def change(name: str, old: str, new: str) -> None:
    path = FOLDER / name
    if not path.exists():
        return
    text = path.read_text(encoding="utf-8")
    if text.count(old) != 1:
        sys.exit(f"{name} does not have this text once: {old}")
    path.write_text(text.replace(old, new), encoding="utf-8")


if __name__ == "__main__":
    for entry in CHANGES:
        change(*entry)
