"""Starts commands. One child waits for the next of them, forked and restricted: both take longer than the start of most programs."""

import asyncio
import contextlib
import socket
from collections.abc import Callable

from .zygote_client import ExitWatcher, ZygoteClient, ZygoteExitedError

Limits = dict[str, int | None]


class CommandStarter:
    def __init__(self, zygote: Callable[[], ZygoteClient], rlimits: Callable[[], Limits]) -> None:
        self._zygote = zygote
        self._rlimits = rlimits
        self._waiting: _WaitingChild | None = None
        self._preparing: asyncio.Task[None] | None = None

    async def start(self, fds: list[int], on_exit: ExitWatcher) -> int:
        """Returns the process id. `fds` are its description, then its streams or its terminal. Raises OSError and ZygoteExitedError."""
        if self._preparing is not None:
            # The zygote makes one child after the other, so that this one is there first.
            await asyncio.wait((self._preparing,))
        child, self._waiting = self._waiting, None
        if child is not None:
            # It may have ended meanwhile, as everything may when memory is short.
            with contextlib.suppress(OSError):
                return child.run(fds, on_exit)
        return await self._zygote().fork("command", self._rlimits(), fds, on_exit)

    def prepare(self) -> None:
        """Makes a child for the next command. After the first one, so that a sandbox without commands does without its memory."""
        if self._waiting is None and self._preparing is None:
            self._preparing = asyncio.get_running_loop().create_task(self._fork())

    async def _fork(self) -> None:
        try:
            with contextlib.suppress(OSError, ZygoteExitedError):
                child = _WaitingChild()
                await child.start(self._zygote(), self._rlimits())
                self._waiting = child
        finally:
            self._preparing = None


class _WaitingChild:
    """Still root, so that the worker can neither stop, trace nor kill it. It ends with the socket."""

    def __init__(self) -> None:
        self._pid = 0
        self._on_exit: ExitWatcher | None = None
        self._socket, self._theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)

    async def start(self, zygote: ZygoteClient, rlimits: Limits) -> None:
        try:
            self._pid = await zygote.fork("waiting", rlimits, [self._theirs.fileno()], self._on_end)
        finally:
            self._theirs.close()

    def run(self, fds: list[int], on_exit: ExitWatcher) -> int:
        """Raises OSError when the child has ended."""
        self._on_exit = on_exit
        with self._socket:
            socket.send_fds(self._socket, [b"r"], fds)
        return self._pid

    def _on_end(self, code: int | None, by_signal: int | None) -> None:
        if self._on_exit is not None:
            self._on_exit(code, by_signal)
