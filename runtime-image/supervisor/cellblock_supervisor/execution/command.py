"""One command: a program beside the kernel, with its own session, events and end. It appends exactly one `done` event."""

import asyncio
import contextlib
import fcntl
import json
import os
import signal
import struct
import termios
import time
from dataclasses import dataclass

from ..cgroup import Cgroup
from ..files.tracker import FileTracker
from . import background_processes, terminals, worker_processes
from .command_input import CommandInput
from .command_output import OutputReader
from .cpu_limit import watch_cpu
from .envelope import Usage, changed_files, envelope
from .event_log import EventLog, RetainedBytes
from .kernel_host import KernelHost
from .outputs import Outputs
from .zygote_client import ZygoteExitedError

# From the polite signal at a limit to the kill.
LIMIT_GRACE_MS = 500
_KILL_AGAIN_SECONDS = 0.1


@dataclass(frozen=True)
class CommandRequest:
    """The validated body of `PUT /commands/{id}`."""

    argv: tuple[str, ...]
    env: dict[str, str]
    cwd: str
    # The whole standard input; None with `has_open_input`, or for an empty one.
    stdin: bytes | None
    has_open_input: bool
    # Columns and rows of its terminal; None for separate streams.
    terminal: tuple[int, int] | None
    timeout_ms: int
    head_bytes: int
    tail_bytes: int
    cpu_ms: int | None = None
    max_total_bytes: int | None = None
    trace_id: str | None = None


class Command:
    def __init__(self, request: CommandRequest, kernel: KernelHost, files: FileTracker, cgroup: Cgroup, retained: RetainedBytes) -> None:
        self.log = EventLog(retained)
        self.pid = 0
        self._started_ticks = 0
        self.input = CommandInput(self._signal, self._resize)
        self.peak = 0
        self._request = request
        self._kernel = kernel
        self._files = files
        self._cgroup = cgroup
        self._outputs = Outputs(self.log, request.head_bytes, request.tail_bytes, 0, request.max_total_bytes)
        self._readers: list[OutputReader] = []
        self._exit: asyncio.Future[tuple[int | None, int | None]] = asyncio.get_running_loop().create_future()
        self._stop_reason: str | None = None
        self._kill_timer: asyncio.TimerHandle | None = None

    @property
    def done(self) -> bool:
        return self.log.closed

    def stop(self, reason: str, kill_after_ms: int) -> None:
        """Ends the command: SIGTERM to its processes, SIGKILL after a grace period. The first reason stays."""
        if self.done or self._stop_reason is not None:
            return
        self._stop_reason = reason
        self._signal(signal.SIGTERM)
        self._signal(signal.SIGHUP)
        self._kill_timer = asyncio.get_running_loop().call_later(kill_after_ms / 1000, self._kill)

    async def run(self) -> None:
        """Starts the program and returns after its `done` event."""
        loop = asyncio.get_running_loop()
        started, cpu = time.monotonic(), self._cgroup.cpu_ms()
        ooms = self._cgroup.oom_kills()
        deadline = loop.call_later(self._request.timeout_ms / 1000, self.stop, "timed_out", LIMIT_GRACE_MS)
        clock = watch_cpu(self._cgroup, cpu, self._request.cpu_ms, lambda: self.stop("cpu_limit", LIMIT_GRACE_MS))
        code: int | None = None
        by_signal: int | None = None
        try:
            await self._start()
            self.log.append("started", {"kernel_generation": self._kernel.generation})
            code, by_signal = await self._exit
        except (OSError, ZygoteExitedError) as error:
            self._outputs.text("stderr", f"The command could not be started: {error}\n".encode())
            code = 126
        finally:
            deadline.cancel()
            if clock is not None:
                clock.cancel()
            await self._finish()
            outcome = self._outcome(code, by_signal, self._cgroup.oom_kills() > ooms)
            envelope = await self._envelope(outcome, (time.monotonic() - started) * 1000, cpu, code, by_signal)
            self.log.append("done", envelope, last=True)
            self._kernel.command_starter.prepare()

    async def _start(self) -> None:
        request = self._request
        description = os.memfd_create("command", os.MFD_CLOEXEC)
        os.write(description, json.dumps({"argv": request.argv, "env": request.env, "cwd": request.cwd}).encode())
        theirs: list[int] = []
        try:
            if request.terminal is None:
                theirs = self._open_pipes()
            else:
                theirs = [self._open_terminal(request.terminal)]
            self._started_ticks = background_processes.now_ticks()
            self.pid = await self._kernel.command_starter.start([description, *theirs], self._on_exit)
        finally:
            for fd in (description, *theirs):
                os.close(fd)
        if self._stop_reason is not None:
            self._kill()
        self.input.start()

    def _open_pipes(self) -> list[int]:
        pairs = [os.pipe2(os.O_CLOEXEC) for _ in range(3)]
        self.input.open(pairs[0][1], self._request.stdin, stays_open=self._request.has_open_input)
        for name, (ours, _) in zip(("stdout", "stderr"), pairs[1:], strict=True):
            self._readers.append(OutputReader(ours, name, self._on_text))
        return [pairs[0][0], pairs[1][1], pairs[2][1]]

    def _open_terminal(self, size: tuple[int, int]) -> int:
        ours, theirs = terminals.open_pair()
        os.set_inheritable(ours, False)
        self._readers.append(OutputReader(ours, "stdout", self._on_text))
        self.input.open(os.dup(ours), self._request.stdin, stays_open=True, is_terminal=True)
        self._resize(*size)
        return theirs

    async def _finish(self) -> None:
        """The program has ended, or never started. What its descendants print from now on is not read."""
        if self._kill_timer is not None:
            self._kill_timer.cancel()
        if self._stop_reason is not None:
            self._kill()
        for reader in self._readers:
            reader.finish()
        self.input.close()
        self._outputs.finish()

    def _on_exit(self, code: int | None, by_signal: int | None) -> None:
        if not self._exit.done():
            self._exit.set_result((code, by_signal))

    def _on_text(self, name: str, data: bytes) -> None:
        self._outputs.text(name, data)
        if self._outputs.is_over_total:
            self.stop("output_limit", LIMIT_GRACE_MS)

    def _signal(self, number: int) -> None:
        """To the command's process group; SIGKILL to everything that it started."""
        if self.pid <= 0 or self._exit.done():
            return
        if number == signal.SIGKILL:
            self._kill()
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    def _kill(self) -> None:
        """Repeated until the program has ended: one that was forked a moment ago has no session yet."""
        if self.pid > 0:
            spared = self._kernel.spared_sessions() - {self.pid} | {self._kernel.pid} - {0}
            worker_processes.kill_command(self.pid, self._started_ticks, spared)
        if not self._exit.done():
            self._kill_timer = asyncio.get_running_loop().call_later(_KILL_AGAIN_SECONDS, self._kill)

    def _resize(self, columns: int, rows: int) -> None:
        if self._request.terminal is not None and self._readers and not self._exit.done():
            with contextlib.suppress(OSError):
                fcntl.ioctl(self._readers[0].fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def _outcome(self, code: int | None, by_signal: int | None, was_out_of_memory: bool) -> str:
        if self._stop_reason is not None:
            return self._stop_reason
        if by_signal == signal.SIGKILL and was_out_of_memory:
            return "oom"
        return "ok" if code == 0 else "error"

    async def _envelope(self, outcome: str, run_ms: float, cpu: float | None, code: int | None, by_signal: int | None) -> dict[str, object]:
        changes = await changed_files(self._files)
        now = self._cgroup.cpu_ms()
        used = 0.0 if now is None or cpu is None else now - cpu
        return {
            **envelope(outcome, Usage(run_ms, used, self.peak), self._outputs, changes),
            "ended_processes": 0,
            "state_lost": None,
            "kernel_generation": self._kernel.generation,
            "trace_id": self._request.trace_id,
            "exit": {"code": code, "signal": by_signal},
        }
