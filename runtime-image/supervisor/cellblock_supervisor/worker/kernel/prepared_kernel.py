"""A kernel that lacks only its channel, made once before kernels are forked.

It has executed a cell. What its construction and a first cell write to is therefore shared by the zygote and its kernels. Otherwise each kernel
would copy these pages, 6 MB.
"""

import asyncio
import functools
import importlib
import linecache
import logging
import os
import sys
from dataclasses import dataclass

from IPython.core.profiledir import ProfileDir
from traitlets.config import Config

from ..snapshot.process.process_state import ProcessState
from ..snapshot.process.unsaved_state import UnsavedState
from . import random_states
from .channel_kernel import ChannelKernel, silence_warnings
from .channel_session import ChannelSession

# What a kernel would import later by itself.
_IMPORTED_BY_A_START = ("IPython.core.completerlib", "IPython.core.oinspect", "encodings.ascii", "ipykernel.debugger", "tornado.platform.asyncio")


@dataclass(frozen=True)
class PreparedKernel:
    kernel: ChannelKernel
    session: ChannelSession
    # Without a folder: the process of a kernel makes it.
    profile: ProfileDir
    process: ProcessState
    unsaved: UnsavedState


@functools.cache
def prepare(data_dir: str) -> PreparedKernel:
    """A process can hold one kernel, so the first call makes it and later ones return it."""
    _warm_up()
    silence_warnings()
    folder = os.getcwd()
    # IPython remembers the folder of its start.
    os.chdir(data_dir)
    try:
        return asyncio.run(_make())
    finally:
        os.chdir(folder)
        # Tracebacks read sources again.
        linecache.clearcache()


async def _make() -> PreparedKernel:
    log = logging.getLogger("cellblock.kernel")
    log.addHandler(logging.NullHandler())
    log.propagate = False
    session, profile = ChannelSession(), ProfileDir()
    kernel = ChannelKernel(session=session, iopub_socket=session, profile_dir=profile, config=_configuration(), log=log)
    cell = {"language": "python", "code": "pass", "env": None, "cwd": None, "store_history": False}
    await kernel.execute(cell, on_start=lambda: None)
    return PreparedKernel(kernel, session, profile, ProcessState(), UnsavedState(kernel.shell))


def _configuration() -> Config:
    config = Config()
    # Only /mnt/data and the namespace persist: no history database, no completer, no start-up files.
    config.HistoryManager.enabled = False
    config.HistoryManager.hist_file = ":memory:"
    config.Completer.use_jedi = False
    config.InteractiveShell.xmode = "Context"
    config.InteractiveShell.colors = "nocolor"
    return config


def _warm_up() -> None:
    """Does the expensive imports, the first traceback, the first random numbers of OpenSSL, which take 3 MB, and the first figure."""
    # Matplotlib's parser of fonts leaves a source file of 7,000 lines there.
    linecache.clearcache()
    for module in _IMPORTED_BY_A_START:
        importlib.import_module(module)
    from IPython.core.ultratb import VerboseTB

    try:
        raise ValueError
    except ValueError:
        VerboseTB(theme_name="nocolor").text(*sys.exc_info())
    random_states.seed()
    random_states.seed_openssl()
    if "matplotlib.pyplot" in sys.modules:
        import matplotlib.backends.backend_agg  # noqa: F401
