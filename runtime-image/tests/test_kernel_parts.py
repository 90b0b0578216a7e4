"""Parts of the kernel that need no kernel."""

import socket
import threading
import time
import unittest

from cellblock_supervisor import packets
from cellblock_supervisor.worker.channel import streams
from cellblock_supervisor.worker.channel.channel import Channel
from cellblock_supervisor.worker.channel.streams import ChannelText, Flusher
from cellblock_supervisor.worker.kernel.transform_once import TransformOnce


class Transforming(unittest.TestCase):
    def setUp(self) -> None:
        self.asked: list[str] = []
        self.ending = "!"

        def transform(cell: str) -> str:
            self.asked.append(cell)
            if cell == "bad":
                raise SyntaxError(cell)
            return cell + self.ending

        self.once = TransformOnce(transform)

    def test_transforms_a_cell_once_for_two_calls_and_again_for_a_third(self) -> None:
        self.assertEqual([self.once("a") for _ in range(3)], ["a!", "a!", "a!"])
        self.assertEqual(self.asked, ["a", "a"])

    def test_transforms_another_cell(self) -> None:
        self.assertEqual([self.once("a"), self.once("b"), self.once("a")], ["a!", "b!", "a!"])

    def test_caches_no_result_beyond_its_cell(self) -> None:
        self.once("a")
        self.ending = "?"
        self.once.forget()
        self.assertEqual(self.once("a"), "a?")

    def test_does_not_cache_a_failure(self) -> None:
        for _ in range(2):
            self.assertRaises(SyntaxError, self.once, "bad")
        self.assertEqual(self.asked, ["bad", "bad"])


class Flushing(unittest.TestCase):
    def setUp(self) -> None:
        self.theirs, ours = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.theirs.settimeout(10)
        self.addCleanup(self.theirs.close)
        self.addCleanup(ours.close)
        self.stdout = ChannelText.over(Channel(ours), packets.STDOUT, "stdout", 1)
        self.flushes = 0
        self.flusher = Flusher((self.stdout,), self._count)
        self.flusher.start()

    def _count(self) -> None:
        self.flushes += 1

    def _says(self, text: str) -> None:
        self.stdout.text.write(text)
        self.assertEqual(self.theirs.recv(1024)[1:].decode(), text)

    def _is_idle(self) -> bool:
        return self.flusher._is_waiting

    def _wait_until_idle(self) -> None:
        deadline = time.monotonic() + 20
        while not self._is_idle():
            self.assertLess(time.monotonic(), deadline, "the flusher does not stop polling")
            time.sleep(0.01)

    def test_sends_output_while_a_cell_runs_whether_the_flusher_waited_or_polled(self) -> None:
        self._wait_until_idle()
        for _ in range(3):
            self.flusher.begin()
            self._says("first")
            self._says("second")
            self.flusher.end()
        self._wait_until_idle()
        self.flusher.begin()
        self._says("woken")
        self.flusher.end()

    def test_stops_polling_some_time_after_the_last_cell(self) -> None:
        self.flusher.begin()
        self._says("awake")
        self.flusher.end()
        self._wait_until_idle()
        flushes = self.flushes
        self.assertFalse(self.flusher._wake.wait(5 * streams.FLUSH_EVERY_SECONDS))
        self.assertEqual(self.flushes, flushes)

    def test_wakes_for_a_cell_that_starts_while_it_stops_polling(self) -> None:
        """Cells of any length, started at any moment, with a polling time of zero."""
        linger, streams._LINGER_SECONDS = streams._LINGER_SECONDS, 0.0
        try:
            for pause in range(40):
                threading.Event().wait(pause * 0.002)
                self.flusher.begin()
                self._says(f"{pause}")
                self.flusher.end()
        finally:
            streams._LINGER_SECONDS = linger
