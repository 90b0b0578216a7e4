"""Output of an execution: heads, tails, counts and events."""

import asyncio
import json
import os
import socket
import unittest

from cellblock_supervisor import packets
from cellblock_supervisor.execution.event_log import EventLog, RetainedBytes
from cellblock_supervisor.execution.outputs import (
    MAX_BUNDLE_BYTES,
    MAX_DISPLAY_BYTES,
    MAX_ERROR_BYTES,
    MAX_ERROR_EVENTS,
    MAX_TRACEBACK_LINES,
    Outputs,
    _text_bytes,
)
from cellblock_supervisor.execution.head_tail_stream import HeadTailStream
from cellblock_supervisor.execution.worker_messages import MAX_CLAIMED_BYTES, Display, OmittedDisplays
from cellblock_supervisor.worker.channel import Channel
from cellblock_supervisor.worker.streams import ChannelBuffer, ChannelText


def display(data: dict[str, object]) -> Display:
    return Display("display_data", data, {}, None, None)


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


class Events(unittest.IsolatedAsyncioTestCase):
    async def test_delivers_every_event_to_every_reader_once(self) -> None:
        log = EventLog()

        async def read() -> list[int]:
            seen, seq = [], -1
            while True:
                piece, seq = log.after(seq)
                if piece:
                    seen += [json.loads(line)["seq"] for line in piece.splitlines()]
                elif log.closed:
                    return seen
                else:
                    await log.wait(seq)

        readers = [asyncio.create_task(read()) for _ in range(3)]
        for number in range(10):
            await asyncio.sleep(0)
            log.append("stream", {"n": number}, last=number == 9)
        self.assertEqual(await asyncio.gather(*readers), [list(range(10))] * 3)

    async def test_delivers_the_events_of_a_short_cell_in_one_piece(self) -> None:
        log = EventLog()
        reader = asyncio.create_task(log.wait(-1))
        await asyncio.sleep(0)
        for number in range(4):
            log.append("stream", {"n": number}, last=number == 3)
            self.assertFalse(reader.done())
        await reader
        self.assertEqual(len(log.after(-1)[0].splitlines()), 4)

    async def test_delivers_events_of_a_long_cell_before_its_end(self) -> None:
        log = EventLog()
        reader = asyncio.create_task(log.wait(-1))
        await asyncio.sleep(0)
        log.append("stream", {})
        await asyncio.wait_for(reader, 10)
        self.assertFalse(log.closed)

    async def test_releases_dropped_bytes_of_a_shared_count(self) -> None:
        kept = RetainedBytes()
        first, second = EventLog(kept), EventLog(kept)
        for log in (first, second):
            log.append("x", {})
            log.append("done", {}, last=True)
        self.assertEqual(kept.bytes, first.bytes + second.bytes)
        first.keep_last()
        self.assertEqual(kept.bytes, first.bytes + second.bytes)
        first.release()
        self.assertEqual(kept.bytes, second.bytes)

    async def test_keeps_the_last_event_when_all_others_are_dropped(self) -> None:
        log = EventLog()
        for number in range(5):
            log.append("x", {}, last=number == 4)
        log.keep_last()
        piece, last = log.after(-1)
        self.assertEqual((json.loads(piece)["seq"], last), (4, 4))

    async def test_keeps_the_order_of_text_and_displays(self) -> None:
        log = EventLog()
        outputs = Outputs(log, 1000, 1000)
        outputs.text("stdout", b"a")
        outputs.text("stderr", b"b")
        outputs.text("stdout", b"c")
        outputs.display(display({"text/plain": "d"}))
        outputs.finish()
        events = [json.loads(line) for line in log.after(-1)[0].splitlines()]
        self.assertEqual([event.get("text") or event["data"]["text/plain"] for event in events], ["a", "b", "c", "d"])

    async def test_drops_and_reports_a_bundle_over_the_cap(self) -> None:
        log = EventLog()
        outputs = Outputs(log, 1000, 1000)
        outputs.display(display({"text/html": "x" * (MAX_BUNDLE_BYTES + 1)}))
        self.assertEqual(log.next_seq, 0)
        self.assertEqual(outputs.truncated()[0]["reason"], "bundle_too_large")


    async def test_bounds_what_a_kernel_claims_not_to_have_sent(self) -> None:
        outputs = Outputs(EventLog(), 1000, 1000)
        for _ in range(3):
            outputs.skipped("stdout", 2**64 - 1)
            outputs.omitted(OmittedDisplays(MAX_CLAIMED_BYTES, "max_display_bytes"))
        self.assertEqual(outputs.output_bytes, MAX_CLAIMED_BYTES)
        self.assertEqual([entry["what"] for entry in outputs.truncated()], ["stdout", "display"])

    async def test_shrinks_the_budget_by_what_is_kept(self) -> None:
        outputs = Outputs(EventLog(), 10, 5, 2)
        self.assertEqual((outputs.budget()["stdout"], outputs.tail_limit("stdout")), (10, None))
        outputs.text("stdout", b"x" * 12)
        outputs.display(display({"text/plain": "abc"}))
        budget = outputs.budget()
        self.assertEqual((budget["stdout"], budget["stderr"], budget["tail"], budget["displays"]), (0, 10, 5, 1))
        self.assertEqual(outputs.tail_limit("stdout"), 5)
        self.assertLess(budget["display_bytes"], MAX_DISPLAY_BYTES - 2)

    async def test_reports_changed_numbers(self) -> None:
        for number in (float("nan"), float("-inf"), 2**63):
            outputs = Outputs(EventLog(), 1000, 1000)
            outputs.display(display({"application/json": {"n": number}}))
            self.assertEqual([entry["reason"] for entry in outputs.truncated()], ["numbers_changed"])

    async def test_counts_what_is_cut_from_an_error(self) -> None:
        outputs = Outputs(EventLog(), 1000, 1000)
        outputs.error("E", "v" * 70_000, ["é" * 10], 0)
        entry = {"what": "error", "total_bytes": 70_021, "kept_bytes": 65_557, "reason": "max_error_bytes"}
        self.assertEqual(outputs.truncated(), [entry])
        outputs.error("E", "", ["x" * 300_000], 5)
        entry = {"what": "error", "total_bytes": 70_021 + 300_006, "kept_bytes": 65_558, "reason": "max_error_bytes"}
        self.assertEqual(outputs.truncated(), [entry])

    async def test_does_not_report_a_complete_error_as_cut(self) -> None:
        outputs = Outputs(EventLog(), 1000, 1000)
        self.assertTrue(outputs.error("ValueError", "é" * 1000, ["line"] * 100, 0))
        self.assertEqual(outputs.truncated(), [])
        self.assertEqual(outputs.output_bytes, 10 + 2000 + 400)

    async def test_counts_errors_as_output_and_bounds_all_together(self) -> None:
        log = EventLog()
        outputs = Outputs(log, 1000, 1000)
        for _ in range(200):
            outputs.error("E", "", ["x" * 60_000], 0)
        self.assertEqual(outputs.output_bytes, 200 * 60_001)
        self.assertLess(log.bytes, MAX_ERROR_BYTES + 100_000)
        self.assertFalse(outputs.error("E", "", ["x" * 60_000], 0))
        [entry] = outputs.truncated()
        self.assertEqual((entry["what"], entry["total_bytes"] > entry["kept_bytes"]), ("error", True))

    async def test_bounds_the_number_of_small_errors(self) -> None:
        log = EventLog()
        outputs = Outputs(log, 1000, 1000)
        for _ in range(5 * MAX_ERROR_EVENTS):
            outputs.error("E", "", [""] * 5_000, 0)
        self.assertEqual(log.next_seq, MAX_ERROR_EVENTS)
        # Each of the empty lines costs three bytes of the event.
        self.assertLess(log.bytes, MAX_ERROR_EVENTS * 4 * MAX_TRACEBACK_LINES)

    async def test_emits_a_short_error_for_a_cell_whose_error_was_dropped(self) -> None:
        log = EventLog()
        outputs = Outputs(log, 1000, 1000, max_total_bytes=10)
        outputs.error("First", "x" * 11, [], 0)
        self.assertFalse(outputs.error("Second", "y" * 11, [], 0))
        outputs.short_error("Second", "y" * 100_000)
        events = [json.loads(line) for line in log.after(-1)[0].splitlines()]
        self.assertEqual([(event["name"], len(event["value"])) for event in events], [("First", 11), ("Second", 4096)])

    async def test_drops_displays_past_the_limit_of_the_output(self) -> None:
        log = EventLog()
        outputs = Outputs(log, 1000, 1000, max_total_bytes=100)
        for _ in range(50):
            outputs.display(display({"text/plain": "x" * 60}))
        self.assertEqual((log.next_seq, outputs.is_over_total), (2, True))
        self.assertEqual(outputs.truncated()[0]["reason"], "max_total_bytes")

    async def test_counts_escaped_characters_by_their_size_in_json(self) -> None:
        log = EventLog()
        outputs = Outputs(log, 1000, 1000)
        for _ in range(30):
            outputs.display(display({"text/plain": "\0" * 1_000_000}))
        self.assertLess(log.bytes, MAX_DISPLAY_BYTES + 100_000)

    async def test_counts_text_of_every_kind_as_its_event_costs(self) -> None:
        for text in ("", "plain", '"' * 10, "\0", "ab\0", "abcde\0", "abcdef\0", "\x7f" * 9, "\n" * 3 + "x" * 20, "ä" * 9, "\ud800"):
            size, escaped = len(text.encode("utf-8", "surrogatepass")), len(json.dumps(text, ensure_ascii=False))
            with self.subTest(text=text):
                self.assertEqual(_text_bytes(text), escaped if escaped > 2 * size + 2 else size)


if __name__ == "__main__":
    unittest.main()
