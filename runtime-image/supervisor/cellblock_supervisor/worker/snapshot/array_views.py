"""Names arrays of numpy that share their memory with another variable's array: each is restored with separate memory."""

import sys
from collections.abc import Iterable

_MAX_NAMED = 20
_MAX_BASES = 100


def named_views(variables: Iterable[tuple[str, object]]) -> list[dict[str, str]]:
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return []
    # By the array that owns the memory: name and array of the variables that show it, the owner first.
    sharing: dict[int, list[tuple[str, object]]] = {}
    for name, array in variables:
        if type(array) is numpy.ndarray:
            owner = _owner(array)
            found = sharing.setdefault(id(owner), [])
            if all(array is not other for _, other in found):
                found.insert(0 if array is owner else len(found), (name, array))
    views = [(name, found[0][0]) for found in sharing.values() for name, _ in found[1:]]
    named = [
        {"what": f"view {name}", "reason": f"It no longer shares its memory with {of}. Take the view again if changes of one have to show in the other."}
        for name, of in views[:_MAX_NAMED]
    ]
    if len(views) > _MAX_NAMED:
        named.append({"what": "other views", "reason": f"{len(views) - _MAX_NAMED} more arrays no longer share their memory with another one."})
    return named


def _owner(array: object) -> object:
    for _ in range(_MAX_BASES):
        base = getattr(array, "base", None)
        if base is None:
            break
        array = base
    return array
