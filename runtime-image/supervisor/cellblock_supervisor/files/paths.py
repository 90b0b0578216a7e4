"""Paths below /mnt/data as the protocol writes them: relative, `/`-separated, UTF-8, every segment a plain name."""

MAX_PATH_BYTES = 1024
MAX_DEPTH = 32
# The helper writes uploads under such names before it renames them; they are never listed.
UPLOAD_PREFIX = ".cellblock-upload-"


def segments(path: str) -> list[str] | None:
    """The names of a path, or None when it is not one the protocol allows."""
    try:
        size = len(path.encode())
    except UnicodeEncodeError:
        return None
    names = path.split("/")
    if size > MAX_PATH_BYTES or len(names) > MAX_DEPTH or "\0" in path:
        return None
    if any(name in ("", ".", "..") or len(name.encode()) > 255 or name.startswith(UPLOAD_PREFIX) for name in names):
        return None
    return names
