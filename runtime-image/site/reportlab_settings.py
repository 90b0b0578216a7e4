"""ReportLab reads this file: where it looks for the name of a font file. It embeds TrueType outlines only."""

TTFSearchPath = (
    "/usr/local/share/truetype-aliases",
    "/usr/local/share/fonts/aliases",
    "/usr/share/fonts/truetype/dejavu",
    "/usr/share/fonts/truetype/liberation",
    "/usr/share/fonts/truetype/noto",
    "/usr/share/fonts/truetype/wqy",
)
