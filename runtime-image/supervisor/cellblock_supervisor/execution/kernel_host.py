"""The life cycle of the kernel: start, requests, interrupts, death, replacement. One request at a time."""

import asyncio
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass

from ..cgroup import Cgroup
from ..config import Limits
from . import processors, shared_memory, worker_processes
from .command_starter import CommandStarter
from .kernel_link import KernelLink
from .terminals import TerminalBroker
from .worker_messages import Reply, parse_reply
from .zygote_client import ExitWatcher, ZygoteClient, ZygoteExitedError, start_zygote

START_TIMEOUT_SECONDS = 30.0
# A later kernel is forked from a running process: one that does not answer within this time is replaced.
RESTART_TIMEOUT_SECONDS = 10.0
# A kernel that closed its channel is killed after this time.
CLOSED_GRACE_SECONDS = 0.3
_START_ATTEMPTS = 3


@dataclass(frozen=True)
class KernelDeath:
    """The kernel ended while a request ran. `oom` when memory was the reason."""

    code: int | None
    signal: int | None
    oom: bool


class Listener:
    """Receives what the kernel sends while a request runs; the default ignores everything."""

    def on_text(self, name: str, data: memoryview) -> None: ...
    def tail_limit(self, name: str) -> int | None:
        return 0

    def on_skipped(self, name: str, size: int) -> None: ...
    def on_message(self, message: dict[str, object]) -> None: ...
    def on_bulk(self, data: bytes) -> None: ...
    def on_dropped(self, size: int, reason: str) -> None: ...


_NO_LISTENER = Listener()


class KernelHost:
    """Calls `on_unusable(reason)` when no kernel can be started any more."""

    def __init__(self, limits: Limits, cgroup: Cgroup, on_unusable: Callable[[str], None]) -> None:
        self._limits = limits
        self._cgroup = cgroup
        self._on_unusable = on_unusable
        self.zygote = self._start_zygote()
        self._command_zygote: ZygoteClient | None = None
        self.command_starter = CommandStarter(self._start_command_zygote, self.rlimits)
        self.generation = 0
        self.pid = 0
        self.state = "starting"
        self.python = ""
        # Sessions of commands, which outlive a kernel that is replaced. Memory and the process limit spare nothing.
        self.spared_sessions: Callable[[], frozenset[int]] = frozenset
        # Set when a kernel died outside any execution; the next envelope reports it.
        self.lost_while_idle = False
        self._link: KernelLink | None = None
        self._terminals: TerminalBroker | None = None
        self._listener = _NO_LISTENER
        self._ready = asyncio.Event()
        self._request_id = ""
        self._reply: asyncio.Future[Reply | KernelDeath] | None = None
        self._input_seen = False
        self._interrupt_wanted = False
        self._killed_for_memory = False
        self._ooms_before = cgroup.oom_kills()
        self._respawn: asyncio.Task[None] | None = None
        self._booting: asyncio.Future[bool] | None = None

    def _start_zygote(self) -> ZygoteClient:
        processors.share()
        control = start_zygote(self._cgroup.cpu_limit())
        return ZygoteClient(control, self._on_exit, lambda: self._on_unusable("the kernel's parent process ended"))

    def _start_command_zygote(self) -> ZygoteClient:
        """Forks commands. A fork copies the page tables of its parent, so this zygote never imports the data stack.

        The first command starts it: an idle sandbox does without its memory. Raises OSError.
        """
        if self._command_zygote is None:
            self._command_zygote = self._start_zygote()
        return self._command_zygote

    async def preload(self, modules: tuple[str, ...]) -> list[str]:
        """Imports modules for all kernels; returns those that failed. Raises ZygoteExitedError."""
        return await self.zygote.preload(modules)

    async def fork_files_helper(self, control: int, on_exit: ExitWatcher) -> int:
        """Returns the process id of a new files helper that serves `control`. Raises OSError or ZygoteExitedError."""
        return await self.zygote.fork("files", self.rlimits(), [control], on_exit)

    async def start(self, timeout_seconds: float = START_TIMEOUT_SECONDS) -> None:
        """Starts a kernel and waits until it answers; raises OSError, ZygoteExitedError or TimeoutError."""
        self.generation += 1
        self.state = "starting"
        # A replaced kernel may end after its successor starts: its exit must not be taken for that of the new one.
        self.pid = 0
        self._close_link()
        link, terminals = KernelLink(self), TerminalBroker()
        self._link, self._terminals = link, terminals
        # On a busy machine `ready` may arrive from the kernel before `started` from the zygote.
        booting = self._booting = asyncio.get_running_loop().create_future()
        try:
            try:
                self.pid = await self.zygote.fork("kernel", self.rlimits(), [*link.worker_fds, terminals.worker_fd])
            finally:
                link.release_worker_fds()
                terminals.release_worker_fd()
            async with asyncio.timeout(timeout_seconds):
                is_up = await booting
        finally:
            self._booting = None
        if not is_up or self.pid == 0:
            raise OSError("the kernel ended while it started")
        self.state = "idle"
        self._ready.set()

    def _close_link(self) -> None:
        if self._link is not None:
            self._link.close()
        if self._terminals is not None:
            self._terminals.close()

    def processes_limit(self) -> int | None:
        return self._cgroup.pids_limit() or self._limits.processes

    def rlimits(self) -> dict[str, int | None]:
        # RLIMIT_NPROC counts a UID over the whole host, so it applies only where the cgroup has no pids limit.
        processes = self._limits.processes if self._cgroup.pids_limit() is None else None
        # A second line for containers without a limit: the monitor samples, this one holds between two samples, for each process.
        memory = self._limits.memory_bytes if self._cgroup.memory_limit() is None else None
        return {
            "processes": processes,
            "open_files": self._limits.open_files,
            "file_bytes": self._limits.file_bytes,
            "memory_bytes": memory,
        }

    async def wait_ready(self) -> None:
        await self._ready.wait()

    @property
    def link(self) -> KernelLink:
        if self._link is None:
            raise OSError("there is no kernel")
        return self._link

    async def request(self, fields: dict[str, object], listener: Listener) -> Reply | KernelDeath:
        """Sends one request and waits for its reply or for the kernel's death."""
        # The kernel may have ended between `ready` and this turn of the loop.
        while not self._ready.is_set():
            await self._ready.wait()
        self._request_id = os.urandom(12).hex()
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
        """Sends SIGINT as soon as the cell handles it; before that it would be ignored."""
        if self._input_seen:
            worker_processes.send(self.pid, signal.SIGINT)
        else:
            self._interrupt_wanted = True

    def kill(self, for_memory: bool = False) -> None:
        """Kills the kernel and all other worker processes; a new kernel follows. Commands are killed only if memory is short.

        Until then every message of the old one is ignored.
        """
        self._killed_for_memory = self._killed_for_memory or for_memory
        if self._ready.is_set():
            self._ready.clear()
            self.state = "starting"
        worker_processes.kill_all(frozenset() if self._killed_for_memory else self.spared_sessions())

    async def replace(self) -> None:
        """Kills all worker processes between two requests and waits for the next kernel. The next envelope reports the loss."""
        self.kill()
        before = self.generation
        while self.generation == before:
            await asyncio.sleep(0.005)
        await self.wait_ready()

    def stop(self) -> None:
        """Ends the sandbox: no new kernel follows."""
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
        """A kernel without its channel is unusable and is killed. The grace period leaves one that is about to exit its own exit code."""
        if self.pid:
            asyncio.get_running_loop().call_later(CLOSED_GRACE_SECONDS, self._kill_if_present, self.pid)

    def _kill_if_present(self, pid: int) -> None:
        if self.pid == pid:
            self.kill()

    def on_message(self, message: dict[str, object]) -> None:
        op = message.get("op")
        if op == "ready" and self._booting is not None and not self._booting.done():
            version = message.get("python")
            self.python = version[:32] if isinstance(version, str) else ""
            self._booting.set_result(True)
        elif self._reply is None or message.get("id") != self._request_id:
            # A reply to no request: late, forged, or from a finished cell.
            return
        elif op == "reply":
            # A kernel that is being killed may not reply any more.
            if not self._reply.done() and self._ready.is_set():
                self._reply.set_result(parse_reply(message))
        else:
            if op == "input":
                self._input_seen = True
                if self._interrupt_wanted:
                    worker_processes.send(self.pid, signal.SIGINT)
            self._listener.on_message(message)

    def _on_exit(self, pid: int, code: int | None, by_signal: int | None) -> None:
        if pid != self.pid:
            return
        # Children of the dead kernel still hold memory and files; System V objects outlive all of them.
        worker_processes.kill_all(self.spared_sessions())
        shared_memory.remove_all()
        oom = self._killed_for_memory or (by_signal == 9 and self._cgroup.oom_kills() > self._ooms_before)
        if self._link is not None:
            self._link.drain_all()
        self._close_link()
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
                worker_processes.kill_all(self.spared_sessions())
                await asyncio.sleep(min(1.0, 0.1 * 4**attempt) if time.monotonic() - started < 1 else 0)
        self._on_unusable(f"a new kernel could not be started: {reason}")
