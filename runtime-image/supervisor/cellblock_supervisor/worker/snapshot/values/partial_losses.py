"""What a value lacks after it was saved, such as the SQL functions of a connection: reducers note it, and the snapshot names it."""

_MAX_NOTED = 20
_MAX_CHARACTERS = 300
_MAX_NAMES = 10
_noted: list[tuple[str, str]] = []


def note(part: str, reason: str) -> None:
    """`part` is a phrase of plain words, such as `SQL functions`."""
    if len(_noted) < _MAX_NOTED:
        _noted.append((part, reason[:_MAX_CHARACTERS]))


def listed(names: list[str]) -> str:
    return ", ".join(names[:_MAX_NAMES]) + (f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else "")


def take(variable: str) -> list[dict[str, str]]:
    """Those noted since the last call, as parts of the variable."""
    named = dict.fromkeys(_noted)
    _noted.clear()
    return [{"what": f"{part} of {variable}", "reason": reason} for part, reason in named]
