"""Parts of the kernel that are tested without one."""

import socket
import threading
import time
import unittest

from cellblock_supervisor import packets
from cellblock_supervisor.worker import streams
from cellblock_supervisor.worker.channel import Channel
from cellblock_supervisor.worker.streams import ChannelText, Flusher
from cellblock_supervisor.worker.transform_once import TransformOnce


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

    def test_the_second_question_gets_the_answer_to_the_first_and_the_third_is_asked_again(self) -> None:
        self.assertEqual([self.once("a") for _ in range(3)], ["a!", "a!", "a!"])
        self.assertEqual(self.asked, ["a", "a"])

    def test_another_cell_is_transformed(self) -> None:
        self.assertEqual([self.once("a"), self.once("b"), self.once("a")], ["a!", "b!", "a!"])

    def test_no_answer_outlives_its_cell(self) -> None:
        self.once("a")
        self.ending = "?"
        self.once.forget()
        self.assertEqual(self.once("a"), "a?")

    def test_a_failure_is_asked_again(self) -> None:
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

    def _is_asleep(self) -> bool:
        return self.flusher._is_asleep

    def _wait_until_asleep(self) -> None:
        deadline = time.monotonic() + 20
        while not self._is_asleep():
            self.assertLess(time.monotonic(), deadline, "the flusher does not go to sleep")
            time.sleep(0.01)

    def test_what_a_cell_says_is_sent_while_it_runs_whether_the_flusher_slept_or_lingered(self) -> None:
        self._wait_until_asleep()
        for _ in range(3):
            self.flusher.begin()
            self._says("first")
            self._says("second")
            self.flusher.end()
        self._wait_until_asleep()
        self.flusher.begin()
        self._says("woken")
        self.flusher.end()

    def test_it_sleeps_some_time_after_the_last_cell_and_looks_no_more(self) -> None:
        self.flusher.begin()
        self._says("awake")
        self.flusher.end()
        self._wait_until_asleep()
        flushes = self.flushes
        self.assertFalse(self.flusher._wake.wait(5 * streams.FLUSH_EVERY_SECONDS))
        self.assertEqual(self.flushes, flushes)

    def test_a_cell_that_begins_as_it_falls_asleep_wakes_it(self) -> None:
        """Cells of any length, begun at any moment of a nap that takes no time."""
        linger, streams._LINGER_SECONDS = streams._LINGER_SECONDS, 0.0
        try:
            for pause in range(40):
                threading.Event().wait(pause * 0.002)
                self.flusher.begin()
                self._says(f"{pause}")
                self.flusher.end()
        finally:
            streams._LINGER_SECONDS = linger
