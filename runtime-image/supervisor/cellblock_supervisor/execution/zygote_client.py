"""The supervisor's side of the zygote: starts it with a clean environment and sends requests over one socket."""

import asyncio
import json
import os
import socket
import sys
from collections.abc import Callable

from ..config import INSTALL_DIR, IS_GVISOR, WORKER_UID
from ..worker.isolation import loopback
from ..worker.isolation.environment import worker_environment

# The worker's UID and the profile come with the code, not with the environment, which kernels inherit.
_BOOT = """
import os, sys
sys.path.insert(0, {install!r})
os.environ.update(CELLBLOCK_WORKER_UID="{uid}", CELLBLOCK_PROFILE="{profile}")
from cellblock_supervisor.worker.zygote import main
del os.environ["CELLBLOCK_WORKER_UID"], os.environ["CELLBLOCK_PROFILE"]
main({fd})
"""


ExitWatcher = Callable[[int | None, int | None], None]


def start_zygote(cpus: int | None) -> socket.socket:
    """Starts a zygote; returns the supervisor's end of its socket."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    environment = {**worker_environment(cpus), **loopback.preload()}
    # The environment variables are for the worker's programs: isolated mode ignores them.
    options = ["-B"] if cpus is None else ["-B", "-X", f"cpu_count={cpus}"]
    nothing = os.open(os.devnull, os.O_RDWR)
    profile = "gvisor" if IS_GVISOR else ""
    boot = _BOOT.format(install=INSTALL_DIR, uid=WORKER_UID, profile=profile, fd=theirs.fileno())
    theirs.set_inheritable(True)
    os.posix_spawn(
        sys.executable,
        [sys.executable, "-I", *options, "-c", boot],
        environment,
        file_actions=[(os.POSIX_SPAWN_DUP2, nothing, 0), (os.POSIX_SPAWN_DUP2, 2, 1)],
    )
    os.close(nothing)
    theirs.close()
    return ours


class ZygoteExitedError(Exception):
    """The zygote ended; without it no kernel can be started."""


class ZygoteClient:
    """Calls `on_exit(pid, code, signal)` for every child that ends and `on_zygote_exit()` when the zygote ends."""

    def __init__(
        self, control: socket.socket, on_exit: Callable[[int, int | None, int | None], None], on_zygote_exit: Callable[[], None]
    ) -> None:
        self._on_exit = on_exit
        self._on_zygote_exit = on_zygote_exit
        self._waiting: dict[str, asyncio.Future[dict[str, object]]] = {}
        # Callbacks of the children that have one: first by the tag of the request, then by the process id.
        self._started_watchers: dict[str, ExitWatcher] = {}
        self._watchers: dict[int, ExitWatcher] = {}
        self._tags = 0
        self._socket = control
        self._socket.setblocking(False)
        asyncio.get_running_loop().add_reader(self._socket, self._on_readable)

    async def fork(self, op: str, rlimits: dict[str, int | None], fds: list[int], on_exit: ExitWatcher | None = None) -> int:
        """Returns the process id of a new worker. Raises OSError when the fork fails and ZygoteExitedError without a zygote.

        `on_exit(code, signal)` is called once at its end, instead of the client's callback.
        """
        reply = await self._ask({"op": op, "rlimits": rlimits}, fds, on_exit)
        if reply["op"] == "failed":
            raise OSError(str(reply["reason"]))
        return int(str(reply["pid"]))

    async def preload(self, modules: tuple[str, ...]) -> list[str]:
        """Imports modules for all later kernels; returns those that failed."""
        reply = await self._ask({"op": "preload", "modules": list(modules)}, [])
        return reply["failed"]  # type: ignore[return-value]

    async def _ask(self, request: dict[str, object], fds: list[int], on_exit: ExitWatcher | None = None) -> dict[str, object]:
        self._tags += 1
        tag = str(self._tags)
        if on_exit is not None:
            self._started_watchers[tag] = on_exit
        reply: asyncio.Future[dict[str, object]] = asyncio.get_running_loop().create_future()
        self._waiting[tag] = reply
        try:
            socket.send_fds(self._socket, [json.dumps({**request, "tag": tag}).encode()], fds)
            return await reply
        except OSError as error:
            raise ZygoteExitedError(str(error)) from error
        finally:
            self._waiting.pop(tag, None)
            self._started_watchers.pop(tag, None)

    def _on_readable(self) -> None:
        try:
            data = self._socket.recv(64 * 1024)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            asyncio.get_running_loop().remove_reader(self._socket)
            for waiter in self._waiting.values():
                if not waiter.done():
                    waiter.set_exception(ZygoteExitedError("the kernel's parent process ended"))
            self._on_zygote_exit()
            return
        report = json.loads(data)
        if report["op"] == "exited":
            watcher = self._watchers.pop(report["pid"], None)
            if watcher is None:
                self._on_exit(report["pid"], report["code"], report["signal"])
            else:
                watcher(report["code"], report["signal"])
            return
        # At once, so that an exit that follows immediately finds its watcher.
        on_exit = self._started_watchers.pop(report["tag"], None)
        if on_exit is not None and report["op"] == "started":
            self._watchers[report["pid"]] = on_exit
        waiter = self._waiting.get(report["tag"])
        if waiter is not None and not waiter.done():
            waiter.set_result(report)
