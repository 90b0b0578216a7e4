"""A child that user code forks shares the channel's socket with the kernel, and must not speak for it."""

import os
import socket
import unittest

from cellblock_supervisor import packets
from cellblock_supervisor.worker.channel.channel import Channel
from cellblock_supervisor.worker.snapshot.restore import NamespaceRestorer
from cellblock_supervisor.worker.snapshot.save import NamespaceSaver
from cellblock_supervisor.worker.snapshot.time_budget import TimeBudget


class Forks:
    """Forks when it is saved and when it is restored."""

    def __reduce__(self) -> tuple[object, ...]:
        os.fork()
        return os.fork, ()


class Shell:
    user_ns_hidden = ()
    execution_count = 1

    def __init__(self, variables: dict[str, object]) -> None:
        self.user_ns = variables


class NoProcessParts:
    def dump(self, _budget: TimeBudget, *_: object) -> dict[str, bytes]:
        return {}


class ForkedChildren(unittest.TestCase):
    def setUp(self) -> None:
        self.theirs, ours = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.addCleanup(self.theirs.close)
        self.addCleanup(ours.close)
        self.channel = Channel(ours)
        self.owner = os.getpid()

    def _end_child(self) -> None:
        """Shows by a packet that a child came this far."""
        if os.getpid() != self.owner:
            self.channel.send_text(packets.STDOUT, memoryview(b"a child came this far"))
            os._exit(9)

    def _sent(self) -> list[bytes]:
        """All packets, when no child can send any more."""
        try:
            while True:
                os.waitpid(-1, 0)
        except ChildProcessError:
            pass
        self.theirs.setblocking(False)
        sent: list[bytes] = []
        try:
            while True:
                sent.append(self.theirs.recv(1 << 20))
        except BlockingIOError:
            return sent

    def test_neither_save_nor_restore_variables(self) -> None:
        variables = {"forks": Forks(), "after": "kept"}
        NamespaceSaver(Shell(variables), self.channel, NoProcessParts()).save(1 << 30, [], TimeBudget(10_000))  # type: ignore[arg-type]
        self._end_child()
        saved = self._sent()
        self.assertEqual({packet[:1] for packet in saved}, {bytes((packets.BULK,))})
        for packet in (*saved, bytes((packets.BULK,))):
            self.theirs.send(packet)
        shell = Shell({})
        reply = NamespaceRestorer(shell, self.channel, NoProcessParts()).restore(TimeBudget(10_000))  # type: ignore[arg-type]
        self._end_child()
        self.assertEqual((reply["lost"], reply["restored"], shell.user_ns["after"]), ([], 2, "kept"))
        self.assertEqual(self._sent(), [])

    def test_may_print(self) -> None:
        if os.fork() == 0:
            self.channel.send_text(packets.STDOUT, memoryview(b"child"))
            os._exit(0)
        self.assertEqual(self._sent(), [bytes((packets.STDOUT,)) + b"child"])


if __name__ == "__main__":
    unittest.main()
