"""`nltk.download()` without a network: data sets of the image are present, and every other one is named."""

import os
import re
import types
from typing import Any

from .network_errors import causes

# The names that programs ask for, where the present NLTK reads another set.
_READ_INSTEAD = {"punkt": "punkt_tab"}


def install(module: types.ModuleType, _shell: object) -> None:
    """Changes `nltk.downloader`."""
    interactive = module.download  # type: ignore[attr-defined]

    def download(info_or_id: Any = None, *arguments: Any, quiet: bool = False, raise_on_error: bool = False, **options: Any) -> bool:
        if info_or_id is None:
            return bool(interactive(info_or_id, *arguments, quiet=quiet, **options))
        names = [info_or_id] if isinstance(info_or_id, str) else [str(name) for name in info_or_id]
        present = _present()
        missing = [name for name in names if _READ_INSTEAD.get(name, name) not in present]
        if not quiet:
            for name in names:
                if name not in missing:
                    print(f"[nltk_data] Package {name} is already up-to-date!")
        for name in missing:
            message = _sentence(name, present)
            if raise_on_error:
                raise ValueError(message)
            print(f"[nltk_data] {message}")
        return not missing

    module.download = download  # type: ignore[attr-defined]


def explain(error: BaseException) -> None:
    """Completes the message of an exception that a missing data set has caused, also TextBlob's, which does not name it."""
    for cause in causes(error):
        missing = re.search(r"Resource \W*(?:\[93m)?(\w+)", str(cause)) if isinstance(cause, LookupError) else None
        if missing and "NLTK" in str(cause):
            error.args = (f"{str(error).rstrip()}\n\n{_sentence(missing[1], _present())}", *error.args[1:])
            return


def _sentence(name: str, present: set[str]) -> str:
    return (
        f"The NLTK data set {name!r} is not in this image and the sandbox has no network. Present: {', '.join(sorted(present))}. "
        "The operator can add others (npm run image -- --nltk)."
    )


def _present() -> set[str]:
    import nltk.data

    found: set[str] = set()
    for root in nltk.data.path:
        if os.path.isdir(root):
            for kind in os.listdir(root):
                folder = os.path.join(root, kind)
                if os.path.isdir(folder):
                    found |= {name.removesuffix(".zip") for name in os.listdir(folder)}
    return found
