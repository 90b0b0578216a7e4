"""The dict in which cells run."""

import sys


def live_namespace() -> dict[str, object]:
    """Pickles refer to this function, so a restored function gets the new kernel's namespace."""
    return sys.modules["__main__"].__dict__
