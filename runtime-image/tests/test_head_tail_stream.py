"""Heads, tails and counts of texts, in the supervisor and in the kernel that sends them."""

import os
import socket
import unittest

from cellblock_supervisor import packets
from cellblock_supervisor.execution.head_tail_stream import HeadTailStream
from cellblock_supervisor.worker.channel.channel import Channel
from cellblock_supervisor.worker.channel.streams import ChannelBuffer, ChannelText


def record(pieces: list[bytes], head: int, tail: int) -> tuple[str, HeadTailStream]:
    texts: list[str] = []
    stream = HeadTailStream(head, tail, texts.append)
    for piece in pieces:
        stream.add(piece)
    stream.finish()
    return "".join(texts), stream


class Streams(unittest.TestCase):
    def test_keeps_short_output_in_pieces_of_any_size(self) -> None:
        data = "grüße €".encode() * 10
        for step in (1, 2, 3, 7, 1000):
            text, stream = record([data[at : at + step] for at in range(0, len(data), step)], 13, 1000)
            self.assertEqual(text.encode(), data)
            self.assertEqual(stream.kept_bytes, stream.total_bytes)

    def test_keeps_exact_heads_and_tails_of_pieces_of_any_size(self) -> None:
        data = b"".join(b"%04d" % number for number in range(1000))
        for step in (1, 3, 64, 999, 4000):
            text, stream = record([data[at : at + step] for at in range(0, len(data), step)], 100, 50)
            self.assertEqual(text.encode(), data[:100] + data[-50:])
            self.assertEqual((stream.total_bytes, stream.kept_bytes), (4000, 150))

    def test_allows_an_empty_head_or_tail(self) -> None:
        self.assertEqual(record([b"abcdef"], 2, 0)[0], "ab")
        self.assertEqual(record([b"abcdef"], 0, 2)[0], "ef")
        self.assertEqual(record([b"abcdef"], 0, 0)[0], "")

    def test_replaces_bytes_that_are_not_utf8(self) -> None:
        self.assertEqual(record([b"a\xff", b"b\xc3"], 100, 100)[0], "a\ufffdb\ufffd")


    def test_counts_skipped_bytes_and_keeps_the_end_that_follows_them(self) -> None:
        texts: list[str] = []
        stream = HeadTailStream(4, 6, texts.append)
        stream.add(b"headgone")
        stream.skip(1_000)
        stream.add(b"end")
        stream.finish()
        self.assertEqual("".join(texts), "headend")
        self.assertEqual((stream.total_bytes, stream.kept_bytes), (1_011, 7))


class Receiver:
    """The supervisor's end of a channel with one stream."""

    def __init__(self, head: int, tail: int) -> None:
        self._ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.channel = Channel(theirs)
        self.texts: list[str] = []
        self.stream = HeadTailStream(head, tail, self.texts.append)
        self.packets = 0

    def read(self) -> None:
        while True:
            try:
                packet = self._ours.recv(1 << 20, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return
            self.packets += 1
            if packet[0] == packets.SKIPPED:
                self.stream.skip(packets.SKIP.unpack(packet)[2])
            else:
                self.stream.add(packet[1:])

    def close(self) -> None:
        self._ours.close()
        os.close(self.channel.fileno())


class Floods(unittest.TestCase):
    """A kernel that only counts bytes which the supervisor would drop does not change the result."""

    def flood(self, pieces: list[str], head: int, tail: int, release_every: int) -> tuple[str, Receiver]:
        receiver = Receiver(head, tail)
        self.addCleanup(receiver.close)
        stream = ChannelText.over(receiver.channel, packets.STDOUT, "stdout", 1)
        stream.buffer.set_limits(head, tail)
        for number, piece in enumerate(pieces):
            stream.text.write(piece)
            if number % release_every == release_every - 1:
                stream.text.flush()
                stream.buffer.release()
            receiver.read()
        stream.text.flush()
        stream.buffer.release()
        receiver.read()
        receiver.stream.finish()
        return "".join(receiver.texts), receiver

    def test_has_the_head_end_and_count_of_a_kernel_that_sends_everything(self) -> None:
        whole = "".join(f"{number:06}\n" for number in range(30_000))
        for step, release_every in ((7, 1_000), (1_001, 3), (70_000, 1), (9_000, 1_000_000)):
            pieces = [whole[at : at + step] for at in range(0, len(whole), step)]
            text, receiver = self.flood(pieces, 10_000, 5_000, release_every)
            self.assertEqual(text, whole[:10_000] + whole[-5_000:])
            self.assertEqual((receiver.stream.total_bytes, receiver.stream.kept_bytes), (len(whole), 15_000))

    def test_sends_few_packets(self) -> None:
        _, receiver = self.flood(["x" * 65_536] * 1_000, 65_536, 65_536, 1_000_000)
        self.assertEqual(receiver.stream.total_bytes, 65_536_000)
        self.assertLess(receiver.packets, 10)

    def test_sends_everything_between_cells_and_in_forked_children(self) -> None:
        for again in (ChannelBuffer.send_all, ChannelBuffer.reset):
            receiver = Receiver(100, 0)
            self.addCleanup(receiver.close)
            stream = ChannelText.over(receiver.channel, packets.STDOUT, "stdout", 1)
            stream.buffer.set_limits(0, 4)
            again(stream.buffer)
            stream.text.write("all of it")
            stream.text.flush()
            receiver.read()
            receiver.stream.finish()
            self.assertEqual("".join(receiver.texts), "all of it")
