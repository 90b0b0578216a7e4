"""What the kernel exchanges with its R session, `r_session.R`: the form of its requests and answers, and the pictures of its plots."""

import json
import os

PROGRAM = "Rscript"
_SESSION = os.path.join(os.path.dirname(__file__), "r_session.R")
_SEPARATOR = "\x1e"
_MAX_PICTURES = 100
_MAX_PICTURE_BYTES = 10 * 1024 * 1024


def argv(program: str) -> list[str]:
    return [program, "--no-save", "--no-restore", "--no-site-file", "--no-init-file", _SESSION]


def request(kind: str, *fields: str) -> bytes:
    """A line with the sizes of the fields, then the fields."""
    bodies = [field.replace("\0", "").encode("utf-8", "replace") for field in (kind, *fields)]
    return " ".join(str(len(body)) for body in bodies).encode() + b"\n" + b"".join(bodies)


def cell(code: str, env: dict[str, str] | None, cwd: str, pictures: str) -> bytes:
    variables = [part for pair in (env or {}).items() for part in pair]
    return request("run", pictures, cwd, code, *variables)


def fields_of(answer: str) -> tuple[str, list[str]]:
    """The kind of an answer and its fields."""
    kind, *fields = answer.split(_SEPARATOR)
    return kind, fields


def frame_data(html: str, table: str) -> dict[str, object]:
    """The further forms of a data frame; none for another result."""
    if not table:
        return {}
    try:
        return {"text/html": html, "application/vnd.dataresource+json": json.loads(table)}
    except ValueError:
        return {"text/html": html}


def read_pictures(folder: str) -> list[bytes]:
    """The pages of the plots of a cell, in order."""
    pictures = []
    for name in sorted(os.listdir(folder))[:_MAX_PICTURES]:
        with open(os.path.join(folder, name), "rb") as file:
            data = file.read(_MAX_PICTURE_BYTES + 1)
        if 0 < len(data) <= _MAX_PICTURE_BYTES:
            pictures.append(data)
    return pictures
