"""Makes JSON of the worker safe to pass on: valid for every parser, of bounded depth and size."""

import json
import math
import re

MAX_DEPTH = 48
MAX_NODES = 50_000
# Parsing costs up to a hundred bytes of memory per value: larger messages are counted before they are parsed.
_COUNT_FROM_BYTES = 64 * 1024
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)


class NotAcceptable(Exception):
    """The message names the bound that was passed."""


def parse_message(body: bytes) -> dict[str, object] | None:
    """A message of the channel as a dict, or None for anything else that a hostile sender wrote. Raises NotAcceptable for too many values."""
    try:
        # The parser would take UTF-16 and UTF-32 from bytes too, whose brackets are counted as other characters.
        text = body.decode()
    except ValueError:
        return None
    if len(body) > _COUNT_FROM_BYTES and _count_separators(text) > 2 * MAX_NODES:
        raise NotAcceptable("too_many_keys")
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) else None


def _count_separators(text: str) -> int:
    """Outside strings, without parsing."""
    rest = _STRING.sub("", text)
    return rest.count(",") + rest.count("[") + rest.count("{")


def clean_text(text: str) -> str:
    """Well-formed Unicode: surrogate pairs become their character, lone surrogates U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode()
        return text
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def clean(value: object) -> tuple[object, bool]:
    """A copy without NaN, infinities and lone surrogates, and whether a number had to become null or text.

    Raises NotAcceptable past the bounds on depth and number of nodes.
    """
    left = [MAX_NODES]
    changed = False

    def visit(node: object, depth: int) -> object:
        nonlocal changed
        left[0] -= 1
        if left[0] < 0:
            raise NotAcceptable("too_many_keys")
        if depth > MAX_DEPTH:
            raise NotAcceptable("too_deep")
        if isinstance(node, str):
            return clean_text(node)
        if isinstance(node, float):
            changed = changed or not math.isfinite(node)
            return node if math.isfinite(node) else None
        if node is None or isinstance(node, (bool, int)):
            if node is None or -(2**63) <= node < 2**63:
                return node
            # Integers beyond 64 bits would be read differently by different parsers.
            changed = True
            return str(node)
        if isinstance(node, dict):
            return {clean_text(str(key)): visit(item, depth + 1) for key, item in node.items()}
        if isinstance(node, list):
            return [visit(item, depth + 1) for item in node]
        raise NotAcceptable("not_json")

    return visit(value, 0), changed
