"""One command: a program beside the kernel, with its own session."""

import asyncio
import contextlib
import fcntl
import json
import os
import signal
import struct
import termios
from dataclasses import dataclass

from . import background_processes, terminals, worker_processes
from .command_input import CommandInput
from .command_output import OutputReader
from .event_log import RetainedBytes
from .job import Job, JobContext, JobLimits
from .zygote_client import ZygoteExitedError

_HANG_UP_SECONDS = 0.05
_KILL_AGAIN_SECONDS = 0.1


@dataclass(frozen=True)
class CommandRequest:
    """The validated body of `PUT /commands/{id}`."""

    argv: tuple[str, ...]
    limits: JobLimits
    env: dict[str, str]
    cwd: str
    # The whole standard input; None with `has_open_input`, or for an empty one.
    stdin: bytes | None
    has_open_input: bool
    # Columns and rows of its terminal; None for separate streams.
    terminal: tuple[int, int] | None


class Command(Job):
    def __init__(self, request: CommandRequest, context: JobContext, retained: RetainedBytes) -> None:
        super().__init__(context, request.limits, retained)
        self.pid = 0
        self.input = CommandInput(self._signal, self._resize)
        self.peak = 0
        self._request = request
        self._started_ticks = 0
        self._readers: list[OutputReader] = []
        self._exit: asyncio.Future[tuple[int | None, int | None]] = asyncio.get_running_loop().create_future()
        self._code: int | None = None
        self._by_signal: int | None = None
        self._ooms_before = 0
        self._kill_timer: asyncio.TimerHandle | None = None

    async def run(self) -> None:
        try:
            await super().run()
        finally:
            self._kernel.command_starter.prepare()

    async def _work(self) -> None:
        self._measure()
        self._ooms_before = self._cgroup.oom_kills()
        try:
            await self._start()
            self.log.append("started", {"kernel_generation": self._kernel.generation})
            self._code, self._by_signal = await self._exit
        except (OSError, ZygoteExitedError) as error:
            self._outputs.text("stderr", f"The command could not be started: {error}\n".encode())
            self._code = 126

    def _on_stop(self, kill_after_ms: int) -> None:
        """SIGTERM to its processes, SIGHUP to those that ignore it, as an interactive shell does, and SIGKILL after the grace period."""
        if self.pid <= 0:
            # `_start` kills it.
            return
        self._signal(signal.SIGTERM)
        # Of two signals that wait, a program gets the lower number first, so it would end by SIGHUP.
        hang_up_after = min(_HANG_UP_SECONDS, kill_after_ms / 2000)
        self._kill_timer = asyncio.get_running_loop().call_later(hang_up_after, self._hang_up, kill_after_ms / 1000 - hang_up_after)

    def _hang_up(self, kill_after: float) -> None:
        self._signal(signal.SIGHUP)
        self._kill_timer = asyncio.get_running_loop().call_later(kill_after, self._kill)

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

    def _release(self) -> None:
        """The program has ended, or never started. What its descendants print from now on is not read."""
        if self._kill_timer is not None:
            self._kill_timer.cancel()
        if self._stop_reason is not None:
            self._kill()
        for reader in self._readers:
            reader.finish()
        self.input.close()

    def _on_exit(self, code: int | None, by_signal: int | None) -> None:
        if not self._exit.done():
            self._exit.set_result((code, by_signal))

    def _on_text(self, name: str, data: bytes) -> None:
        self._outputs.text(name, data)
        self._check_size()

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
        if not self._exit.done() and not self._has_ended:
            self._kill_timer = asyncio.get_running_loop().call_later(_KILL_AGAIN_SECONDS, self._kill)

    def _resize(self, columns: int, rows: int) -> None:
        if self._request.terminal is not None and self._readers and not self._exit.done():
            with contextlib.suppress(OSError):
                fcntl.ioctl(self._readers[0].fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def _outcome(self) -> str:
        if self._stop_reason is not None:
            return self._stop_reason
        if self._by_signal == signal.SIGKILL and self._cgroup.oom_kills() > self._ooms_before:
            return "oom"
        return "ok" if self._code == 0 else "error"

    def _peak_memory_bytes(self) -> int:
        return self.peak

    def _end_fields(self, outcome: str) -> dict[str, object]:
        return {"ended_processes": 0, "state_lost": None, "exit": {"code": self._code, "signal": self._by_signal}}
