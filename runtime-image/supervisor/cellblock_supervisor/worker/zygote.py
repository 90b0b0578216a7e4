"""A root process with a worker's clean environment that has imported everything and forks kernels on request.

It is a fresh program (not a fork of the supervisor), so no kernel inherits the supervisor's memory or environment. It has one
thread and one descriptor: the socket over which the supervisor asks. Requests: kernel (with the channel, two output pipes and the socket for terminals),
probe (with a result pipe), files (with the socket of the files helper), command (with its description, then standard input, output and error, or a
terminal), waiting (with a socket over which the same descriptors follow when there is a command). Reports: started, exited, preloaded.
"""

import builtins
import contextlib
import gc
import importlib
import json
import os
import re
import select
import socket
import sys
import traceback
import types
from collections.abc import Callable
from contextlib import AbstractContextManager

from ..config import DATA_DIR, INSTALL_DIR, IS_GVISOR, WORKER_GID
from . import command, files_helper
from .channel import descriptors
from .channel.channel import Channel
from .isolation import loopback, seccomp
from .isolation.drop_privileges import (
    Rlimits,
    become_worker,
    change_identity,
    files_owned_by_worker,
    hide_memory,
    restrict,
    return_free_memory,
    unmap_used_code,
)
from .kernel.peak_memory import PeakMemory
from .libraries.matplotlib_font_cache import copy_font_cache


# Between two checks for children that ended, where the kernel has no pidfd.
_REAP_INTERVAL_MS = 20
# Options of jemalloc with the prefix of Arrow's build; read when the library is loaded.
_ARROW_ALLOCATOR = "JE_ARROW_MALLOC_CONF"


class Zygote:
    def __init__(self, control: socket.socket) -> None:
        self._control = control
        # gVisor has no pidfd_open(2).
        self._unwatched: set[int] = set()
        self._poll = select.poll()
        self._poll.register(control, select.POLLIN)
        self._children: dict[int, int] = {}
        # What the next kernel imports for itself.
        self._modules: list[str] = []

    def serve(self) -> None:
        while True:
            for fd, _ in self._poll.poll(_REAP_INTERVAL_MS if self._unwatched else None):
                if fd == self._control.fileno():
                    self._on_request()
                else:
                    self._on_exit(fd)
            for pid in list(self._unwatched):
                self._reap_unwatched(pid)

    def _on_request(self) -> None:
        data, fds = descriptors.receive(self._control, 64 * 1024, 4)
        if not data:
            os._exit(0)
        request = json.loads(data)
        if request["op"] == "preload":
            self._report({"op": "preloaded", "tag": request["tag"], "failed": self._preload(request["modules"])})
            return
        try:
            pid = os.fork()
        except OSError as error:
            self._report({"op": "failed", "tag": request["tag"], "reason": str(error)})
            return
        if pid == 0:
            self._child(request, fds)
        if request["op"] == "kernel":
            self._modules = []
        for fd in fds:
            os.close(fd)
        try:
            watch = os.pidfd_open(pid)
        except OSError:
            self._unwatched.add(pid)
        else:
            self._children[watch] = pid
            self._poll.register(watch, select.POLLIN)
        self._report({"op": "started", "tag": request["tag"], "pid": pid})

    def _preload(self, modules: list[str]) -> list[str]:
        """Returns the modules that could not be imported."""
        if not IS_GVISOR:
            return preload(modules)
        # gVisor copies 2 MB for each page that is written after a fork, so a kernel would share next to nothing. Its zygote stays small, and the first kernel
        # imports the modules.
        self._modules = modules
        return []

    def _child(self, request: dict[str, object], fds: list[int]) -> None:
        """Does not return."""
        try:
            os.close(self._control.fileno())
            for watch in self._children:
                os.close(watch)
            if request["op"] == "kernel":
                _run_kernel(fds, Rlimits(**request["rlimits"]), self._modules)  # type: ignore[arg-type]
            _CHILDREN[str(request["op"])](fds, Rlimits(**request["rlimits"]))  # type: ignore[arg-type]
        except BaseException:
            traceback.print_exc()
        os._exit(70)

    def _on_exit(self, watch: int) -> None:
        self._poll.unregister(watch)
        os.close(watch)
        pid = self._children.pop(watch)
        _, status = os.waitpid(pid, 0)
        self._report_exit(pid, status)

    def _reap_unwatched(self, pid: int) -> None:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            self._unwatched.discard(pid)
            self._report_exit(pid, status)

    def _report_exit(self, pid: int, status: int) -> None:
        code = os.waitstatus_to_exitcode(status)
        self._report({"op": "exited", "pid": pid, "code": code if code >= 0 else None, "signal": -code if code < 0 else None})

    def _report(self, report: dict[str, object]) -> None:
        self._control.send(json.dumps(report).encode())


def preload(modules: list[str], as_worker: Callable[[], AbstractContextManager[None]] = files_owned_by_worker) -> list[str]:
    """Imports modules and prepares a kernel; returns the modules that failed, which does not prevent the start."""
    failed = []
    with as_worker():
        copy_font_cache()
    # Arrow's allocator would start a thread, which kernels would not inherit.
    os.environ[_ARROW_ALLOCATOR] = "background_thread:false"
    from .kernel import prepared_kernel, serve  # noqa: F401

    # Pandas takes a process without IPython for a terminal and sets other display options than in a kernel.
    builtins.get_ipython = lambda: types.SimpleNamespace(kernel=None)  # type: ignore[attr-defined]
    for module in modules:
        try:
            importlib.import_module(module)
        except Exception:
            failed.append(module)
    del builtins.get_ipython, os.environ[_ARROW_ALLOCATOR]  # type: ignore[attr-defined]
    forget_folders()
    # Expressions that modules compiled only to import themselves, 0.1 MB.
    re.purge()
    # Before the last objects, which fill the holes of the garbage. A kernel that filled them would copy their pages.
    gc.collect()
    with as_worker():
        prepared_kernel.prepare(DATA_DIR)
    # The collector ignores the shared objects from here on, so that it does not copy their pages.
    gc.freeze()
    return_free_memory()
    unmap_used_code()
    return failed


def forget_folders() -> None:
    """Drops the listings of the packages' folders, 0.3 MB. An import from such a folder lists it again."""
    for folder in sys.path_importer_cache.keys() - set(sys.path):
        del sys.path_importer_cache[folder]


def _run_kernel(fds: list[int], limits: Rlimits, modules: list[str]) -> None:
    channel, out, err, terminal = fds
    peak = PeakMemory()
    # The pipes belong to root: without this a program could not open /dev/stdout or /dev/stderr.
    # gVisor refuses it, and such a program fails there.
    with contextlib.suppress(PermissionError):
        os.fchmod(out, 0o622)
        os.fchmod(err, 0o622)
    become_worker(limits)
    loopback.activate()
    if IS_GVISOR and (failed := preload(modules, contextlib.nullcontext)):
        print(f"cellblock: could not preload {', '.join(failed)}", file=sys.stderr)
    os.dup2(out, 1)
    os.dup2(err, 2)
    os.close(out)
    os.close(err)
    sys.path[:] = [entry for entry in sys.path if entry != INSTALL_DIR]
    from .channel import terminals
    from .kernel import prepared_kernel, serve

    sock = socket.socket(fileno=channel)
    sock.set_inheritable(False)
    terminals.install(terminal)
    serve.serve(prepared_kernel.prepare(DATA_DIR), Channel(sock), DATA_DIR, peak)


def _run_probe(fds: list[int], limits: Rlimits) -> None:
    become_worker(limits)
    from .isolation import probe

    probe.main(fds[0])


def _run_files_helper(fds: list[int], _limits: Rlimits) -> None:
    files_helper.main(fds[0])


def _run_command(fds: list[int], limits: Rlimits) -> None:
    restrict(limits)
    _become_command(fds)


def _wait_for_command(fds: list[int], limits: Rlimits) -> None:
    restrict(limits)
    received, command_fds = descriptors.receive(socket.socket(fileno=fds[0]), 1, 4)
    if not received:
        os._exit(0)
    _become_command(command_fds)


def _become_command(fds: list[int]) -> None:
    command.prepare(fds)
    change_identity()
    command.main(fds)


_CHILDREN = {"files": _run_files_helper, "probe": _run_probe, "command": _run_command, "waiting": _wait_for_command}


def main(control_fd: int) -> None:
    hide_memory()
    # Matplotlib needs a writable folder; it is the worker's, which its group may write to.
    os.setgroups([WORKER_GID])
    # Assembled once for all children.
    seccomp.filter_code()
    control = socket.socket(fileno=control_fd)
    control.set_inheritable(False)
    Zygote(control).serve()
