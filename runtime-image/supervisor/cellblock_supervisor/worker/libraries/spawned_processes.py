"""multiprocessing with the start methods `spawn` and `forkserver`: new processes have the functions and classes of the notebook.

A notebook has no file that a new process could import, so a pool would start its processes again and again. Here the file loads the definitions.
`forkserver` starts its processes as `spawn` does: the library behind loopback passes at most six descriptors in one message.
"""

import hashlib
import os
import types
from collections.abc import Callable
from typing import Any

import cloudpickle

from ...config import SPAWNED_DIR
from ..live_namespace import live_namespace

_LOADER = """import cloudpickle as _pickle
with open(__file__.removesuffix("py") + "pickle", "rb") as _file:
    globals().update(_pickle.load(_file))
"""


def spawn_instead(module: types.ModuleType, _shell: object) -> None:
    from multiprocessing import popen_spawn_posix

    module.Popen = popen_spawn_posix.Popen  # type: ignore[attr-defined]


def give_definitions(module: types.ModuleType, _shell: object) -> None:
    prepare: Callable[[str], dict[str, Any]] = module.get_preparation_data  # type: ignore[attr-defined]

    def get_preparation_data(name: str) -> dict[str, Any]:
        data = prepare(name)
        if not {"init_main_from_name", "init_main_from_path"} & data.keys():
            path = _write_definitions()
            if path is not None:
                data["init_main_from_path"] = path
        return data

    module.get_preparation_data = get_preparation_data  # type: ignore[attr-defined]


def _write_definitions() -> str | None:
    """The path of a module with the definitions that can be pickled; None without any."""
    pickled = _pickled({name: value for name, value in list(live_namespace().items()) if _is_definition(value)})
    if pickled is None:
        return None
    path = os.path.join(SPAWNED_DIR, f"{hashlib.sha256(pickled).hexdigest()[:16]}.py")
    if not os.path.exists(path):
        os.makedirs(SPAWNED_DIR, exist_ok=True)
        with open(f"{path.removesuffix('py')}pickle", "wb") as file:
            file.write(pickled)
        with open(path, "w", encoding="utf-8") as file:
            file.write(_LOADER)
    return path


def _is_definition(value: object) -> bool:
    return isinstance(value, (type, types.FunctionType)) and value.__module__ == "__main__"


def _pickled(definitions: dict[str, object]) -> bytes | None:
    try:
        return cloudpickle.dumps(definitions) if definitions else None
    except Exception:
        kept = {name: value for name, value in definitions.items() if _can_be_pickled(value)}
        return cloudpickle.dumps(kept) if kept else None


def _can_be_pickled(value: object) -> bool:
    try:
        cloudpickle.dumps(value)
        return True
    except Exception:
        return False
