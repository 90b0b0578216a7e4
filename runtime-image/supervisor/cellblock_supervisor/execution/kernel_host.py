"""The kernel's life: start, requests, interrupts, death, and the next kernel. One request at a time."""

import asyncio
import secrets
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass

from ..config import Limits
from . import worker_processes
from .cgroup import Cgroup
from .kernel_link import KernelLink
from .zygote_client import ZygoteClient, ZygoteExitedError

START_TIMEOUT_SECONDS = 30.0
# A later kernel is a fork of a process that is there already: one that is silent this long is given up for another.
RESTART_TIMEOUT_SECONDS = 10.0
# How long a kernel that closed its channel may take to end by itself, seconds.
CLOSED_GRACE_SECONDS = 0.3
_START_ATTEMPTS = 3


@dataclass(frozen=True)
class KernelDeath:
    """The kernel ended while a request ran. `oom` when memory was the reason."""

    code: int | None
    signal: int | None
    oom: bool


class Listener:
    """What a request hears while it runs; the default ignores everything."""

    def on_text(self, name: str, data: memoryview) -> None: ...
    def tail_limit(self, name: str) -> int | None:
        return 0

    def on_skipped(self, name: str, size: int) -> None: ...
    def on_message(self, message: dict[str, object]) -> None: ...
    def on_bulk(self, data: bytes) -> None: ...
    def on_dropped(self, size: int, reason: str) -> None: ...


_NO_LISTENER = Listener()


class KernelHost:
    """`on_unusable(reason)` is called when no kernel can be started any more."""

    def __init__(self, limits: Limits, cgroup: Cgroup, on_unusable: Callable[[str], None]) -> None:
        self._limits = limits
        self._cgroup = cgroup
        self._on_unusable = on_unusable
        self.zygote = ZygoteClient(self._on_exit, lambda: on_unusable("the kernel's parent process ended"))
        self.generation = 0
        self.pid = 0
        self.state = "starting"
        self.python = ""
        # Set when a kernel was lost outside any execution, for the next envelope to tell.
        self.lost_while_idle = False
        self._link: KernelLink | None = None
        self._listener = _NO_LISTENER
        self._ready = asyncio.Event()
        self._request_id = ""
        self._reply: asyncio.Future[dict[str, object] | KernelDeath] | None = None
        self._input_seen = False
        self._interrupt_wanted = False
        self._killed_for_memory = False
        self._ooms_before = cgroup.oom_kills()
        self._respawn: asyncio.Task[None] | None = None
        self._booting: asyncio.Future[bool] | None = None

    async def start(self, timeout_seconds: float = START_TIMEOUT_SECONDS) -> None:
        """Starts a kernel and waits until it answers; raises OSError, ZygoteExitedError or TimeoutError."""
        self.generation += 1
        self.state = "starting"
        # A kernel that was given up may end later than its successor begins: then its end says nothing of this one.
        self.pid = 0
        if self._link is not None:
            self._link.close()
        link = self._link = KernelLink(self)
        # On a busy machine a kernel may be up, and say so, before its parent says that it was started.
        booting = self._booting = asyncio.get_running_loop().create_future()
        try:
            try:
                self.pid = await self.zygote.fork("kernel", self.rlimits(), link.worker_fds)
            finally:
                link.release_worker_fds()
            async with asyncio.timeout(timeout_seconds):
                is_up = await booting
        finally:
            self._booting = None
        if not is_up or self.pid == 0:
            raise OSError("the kernel ended while it started")
        self.state = "idle"
        self._ready.set()

    def processes_limit(self) -> int | None:
        return self._cgroup.pids_limit() or self._limits.processes

    def rlimits(self) -> dict[str, int | None]:
        # RLIMIT_NPROC counts a UID over the whole host, so it stands in only where no pids limit holds.
        processes = self._limits.processes if self._cgroup.pids_limit() is None else None
        return {"processes": processes, "open_files": self._limits.open_files, "file_bytes": self._limits.file_bytes}

    async def wait_ready(self) -> None:
        await self._ready.wait()

    @property
    def link(self) -> KernelLink:
        if self._link is None:
            raise OSError("there is no kernel")
        return self._link

    async def request(self, fields: dict[str, object], listener: Listener) -> dict[str, object] | KernelDeath:
        """Sends one request and waits for its reply or for the kernel's death."""
        # It may have ended between the word that it is up and this turn of ours.
        while not self._ready.is_set():
            await self._ready.wait()
        self._request_id = secrets.token_hex(12)
        self._reply = asyncio.get_running_loop().create_future()
        self._listener = listener
        self._input_seen = self._interrupt_wanted = False
        self._ooms_before = self._cgroup.oom_kills()
        self.state = "busy"
        self.link.send({**fields, "id": self._request_id})
        try:
            return await self._reply
        finally:
            self._reply = None
            self._listener = _NO_LISTENER
            if self.state == "busy":
                self.state = "idle"

    def interrupt(self) -> None:
        """SIGINT, as soon as the cell listens for it; before that it would be ignored."""
        if self._input_seen:
            worker_processes.send(self.pid, signal.SIGINT)
        else:
            self._interrupt_wanted = True

    def kill(self, for_memory: bool = False) -> None:
        """Ends the kernel and everything else the worker runs; a new kernel follows. Until then there is none, whatever this one still says."""
        self._killed_for_memory = self._killed_for_memory or for_memory
        if self._ready.is_set():
            self._ready.clear()
            self.state = "starting"
        worker_processes.kill_all()

    async def replace(self) -> None:
        """Ends everything that the worker runs between two requests, and waits for the next kernel. The loss is told by the next envelope."""
        self.kill()
        before = self.generation
        while self.generation == before:
            await asyncio.sleep(0.005)
        await self.wait_ready()

    def stop(self) -> None:
        """For the end of the sandbox: no new kernel follows."""
        if self._respawn is not None:
            self._respawn.cancel()
        self._on_unusable = lambda _reason: None
        worker_processes.kill_all()

    def on_text(self, name: str, data: memoryview) -> None:
        self._listener.on_text(name, data)

    def tail_limit(self, name: str) -> int | None:
        return self._listener.tail_limit(name)

    def on_skipped(self, name: str, size: int) -> None:
        self._listener.on_skipped(name, size)

    def on_bulk(self, data: bytes) -> None:
        self._listener.on_bulk(data)

    def on_dropped(self, size: int, reason: str) -> None:
        self._listener.on_dropped(size, reason)

    def on_closed(self) -> None:
        """A kernel that cannot be heard any more is as good as dead, even if user code in it goes on. One that is about to end may say how."""
        if self.pid:
            asyncio.get_running_loop().call_later(CLOSED_GRACE_SECONDS, self._kill_if_present, self.pid)

    def _kill_if_present(self, pid: int) -> None:
        if self.pid == pid:
            self.kill()

    def on_message(self, message: dict[str, object]) -> None:
        op = message.get("op")
        if op == "ready" and self._booting is not None and not self._booting.done():
            self.python = str(message.get("python", ""))[:32]
            self._booting.set_result(True)
        elif self._reply is None or message.get("id") != self._request_id:
            # An answer to nothing: late, forged, or from a cell that is over.
            return
        elif op == "reply":
            # The answer of a kernel that is being killed would pass it off as alive.
            if not self._reply.done() and self._ready.is_set():
                self._reply.set_result(message)
        else:
            if op == "input":
                self._input_seen = True
                if self._interrupt_wanted:
                    worker_processes.send(self.pid, signal.SIGINT)
            self._listener.on_message(message)

    def _on_exit(self, pid: int, code: int | None, by_signal: int | None) -> None:
        if pid != self.pid:
            return
        # Children of the dead kernel hold its memory and its files.
        worker_processes.kill_all()
        oom = self._killed_for_memory or (by_signal == 9 and self._cgroup.oom_kills() > self._ooms_before)
        if self._link is not None:
            self._link.drain_all()
            self._link.close()
        self._killed_for_memory = False
        self._ready.clear()
        self.pid = 0
        self.state = "starting"
        if self._booting is not None:
            if not self._booting.done():
                self._booting.set_result(False)
            return
        if self._reply is None:
            self.lost_while_idle = True
        elif not self._reply.done():
            self._reply.set_result(KernelDeath(code, by_signal, oom))
        if self._respawn is None:
            self._respawn = asyncio.get_running_loop().create_task(self._start_again())

    async def _start_again(self) -> None:
        reason = ""
        for attempt in range(_START_ATTEMPTS):
            started = time.monotonic()
            try:
                await self.start(RESTART_TIMEOUT_SECONDS)
                self._respawn = None
                return
            except ZygoteExitedError as error:
                reason = str(error)
                break
            except (OSError, TimeoutError) as error:
                reason = str(error) or "it did not answer"
                worker_processes.kill_all()
                await asyncio.sleep(min(1.0, 0.1 * 4**attempt) if time.monotonic() - started < 1 else 0)
        self._on_unusable(f"a new kernel could not be started: {reason}")
