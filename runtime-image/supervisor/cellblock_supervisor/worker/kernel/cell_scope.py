"""The environment variables and the folder of one execution, taken back at its end."""

import contextlib
import os
from collections.abc import Iterator

from ...config import DATA_DIR


class ScopeError(Exception):
    """The folder cannot be entered, so the code does not run."""


@contextlib.contextmanager
def cell_scope(env: dict[str, str] | None, cwd: str | None) -> Iterator[None]:
    """Raises ScopeError. Other variables that the code sets stay set; a folder that it enters stays unless `cwd` was given."""
    if env is None and cwd is None:
        yield
        return
    before = {name: os.environ.get(name) for name in env or {}}
    folder = _current_folder()
    if cwd is not None:
        try:
            os.chdir(cwd)
        except OSError as error:
            raise ScopeError(f"The folder {cwd!r} cannot be entered: {error.strerror}. Create it first.") from error
    os.environ.update(env or {})
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        if cwd is not None:
            with contextlib.suppress(OSError):
                os.chdir(folder)


def _current_folder() -> str:
    try:
        return os.getcwd()
    except OSError:
        return DATA_DIR
