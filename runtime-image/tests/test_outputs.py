"""What becomes of output: heads, tails, counts and events."""

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
)
from cellblock_supervisor.execution.head_tail_stream import HeadTailStream
from cellblock_supervisor.execution.worker_messages import MAX_CLAIMED_BYTES, Display, OmittedDisplays
from cellblock_supervisor.worker.channel import Channel
from cellblock_supervisor.worker.streams import ChannelBuffer, ChannelText


def display(data: dict[str, object]) -> Display:
    return Display("display_data", data, {}, None, None)


def keep(pieces: list[bytes], head: int, tail: int) -> tuple[str, HeadTailStream]:
    texts: list[str] = []
    keeper = HeadTailStream(head, tail, texts.append)
    for piece in pieces:
        keeper.add(piece)
    keeper.finish()
    return "".join(texts), keeper


class Streams(unittest.TestCase):
    def test_short_output_is_kept_whole_however_it_is_cut(self) -> None:
        data = "grüße €".encode() * 10
        for step in (1, 2, 3, 7, 1000):
            text, keeper = keep([data[at : at + step] for at in range(0, len(data), step)], 13, 1000)
            self.assertEqual(text.encode(), data)
            self.assertEqual(keeper.kept_bytes, keeper.total_bytes)

    def test_head_and_tail_are_exact_whatever_the_size_of_the_pieces(self) -> None:
        data = b"".join(b"%04d" % number for number in range(1000))
        for step in (1, 3, 64, 999, 4000):
            text, keeper = keep([data[at : at + step] for at in range(0, len(data), step)], 100, 50)
            self.assertEqual(text.encode(), data[:100] + data[-50:])
            self.assertEqual((keeper.total_bytes, keeper.kept_bytes), (4000, 150))

    def test_no_tail_and_no_head_are_possible(self) -> None:
        self.assertEqual(keep([b"abcdef"], 2, 0)[0], "ab")
        self.assertEqual(keep([b"abcdef"], 0, 2)[0], "ef")
        self.assertEqual(keep([b"abcdef"], 0, 0)[0], "")

    def test_bytes_that_are_no_utf8_become_replacement_characters(self) -> None:
        self.assertEqual(keep([b"a\xff", b"b\xc3"], 100, 100)[0], "a\ufffdb\ufffd")


    def test_bytes_that_nobody_sent_are_counted_and_the_end_is_what_came_after_them(self) -> None:
        texts: list[str] = []
        keeper = HeadTailStream(4, 6, texts.append)
        keeper.add(b"headgone")
        keeper.skip(1_000)
        keeper.add(b"end")
        keeper.finish()
        self.assertEqual("".join(texts), "headend")
        self.assertEqual((keeper.total_bytes, keeper.kept_bytes), (1_011, 7))


class Heard:
    """The supervisor's end of a channel, with a keeper behind it."""

    def __init__(self, head: int, tail: int) -> None:
        self._ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.channel = Channel(theirs)
        self.texts: list[str] = []
        self.keeper = HeadTailStream(head, tail, self.texts.append)
        self.packets = 0

    def read(self) -> None:
        while True:
            try:
                packet = self._ours.recv(1 << 20, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return
            self.packets += 1
            if packet[0] == packets.SKIPPED:
                self.keeper.skip(packets.SKIP.unpack(packet)[2])
            else:
                self.keeper.add(packet[1:])

    def close(self) -> None:
        self._ours.close()
        os.close(self.channel.fileno())


class Floods(unittest.TestCase):
    """A kernel that counts what would be thrown away changes nothing of what is kept and told."""

    def flood(self, pieces: list[str], head: int, tail: int, release_every: int) -> tuple[str, Heard]:
        heard = Heard(head, tail)
        self.addCleanup(heard.close)
        stream = ChannelText.over(heard.channel, packets.STDOUT, "stdout", 1)
        stream.buffer.set_limits(head, tail)
        for number, piece in enumerate(pieces):
            stream.text.write(piece)
            if number % release_every == release_every - 1:
                stream.text.flush()
                stream.buffer.release()
            heard.read()
        stream.text.flush()
        stream.buffer.release()
        heard.read()
        heard.keeper.finish()
        return "".join(heard.texts), heard

    def test_head_end_and_count_are_those_of_a_kernel_that_sends_everything(self) -> None:
        whole = "".join(f"{number:06}\n" for number in range(30_000))
        for step, release_every in ((7, 1_000), (1_001, 3), (70_000, 1), (9_000, 1_000_000)):
            pieces = [whole[at : at + step] for at in range(0, len(whole), step)]
            text, heard = self.flood(pieces, 10_000, 5_000, release_every)
            self.assertEqual(text, whole[:10_000] + whole[-5_000:])
            self.assertEqual((heard.keeper.total_bytes, heard.keeper.kept_bytes), (len(whole), 15_000))

    def test_hardly_anything_is_sent(self) -> None:
        _, heard = self.flood(["x" * 65_536] * 1_000, 65_536, 65_536, 1_000_000)
        self.assertEqual(heard.keeper.total_bytes, 65_536_000)
        self.assertLess(heard.packets, 10)

    def test_everything_is_sent_again_between_cells_and_in_forked_children(self) -> None:
        for again in (ChannelBuffer.send_all, ChannelBuffer.renew):
            heard = Heard(100, 0)
            self.addCleanup(heard.close)
            stream = ChannelText.over(heard.channel, packets.STDOUT, "stdout", 1)
            stream.buffer.set_limits(0, 4)
            again(stream.buffer)
            stream.text.write("all of it")
            stream.text.flush()
            heard.read()
            heard.keeper.finish()
            self.assertEqual("".join(heard.texts), "all of it")


class Events(unittest.IsolatedAsyncioTestCase):
    async def test_readers_wait_and_see_every_event_once(self) -> None:
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

    async def test_what_a_short_cell_says_is_told_as_one_piece(self) -> None:
        log = EventLog()
        reader = asyncio.create_task(log.wait(-1))
        await asyncio.sleep(0)
        for number in range(4):
            log.append("stream", {"n": number}, last=number == 3)
            self.assertFalse(reader.done())
        await reader
        self.assertEqual(len(log.after(-1)[0].splitlines()), 4)

    async def test_what_a_long_cell_says_is_told_before_its_end(self) -> None:
        log = EventLog()
        reader = asyncio.create_task(log.wait(-1))
        await asyncio.sleep(0)
        log.append("stream", {})
        await asyncio.wait_for(reader, 10)
        self.assertFalse(log.closed)

    async def test_logs_that_share_a_count_give_back_what_they_drop(self) -> None:
        kept = RetainedBytes()
        first, second = EventLog(kept), EventLog(kept)
        for log in (first, second):
            log.append("x", {})
            log.append("done", {}, last=True)
        self.assertEqual(kept.bytes, first.bytes + second.bytes)
        first.acknowledge(2**40)
        self.assertEqual(kept.bytes, first.bytes + second.bytes)
        first.forget()
        self.assertEqual(kept.bytes, second.bytes)

    async def test_acknowledging_never_drops_the_end(self) -> None:
        log = EventLog()
        for number in range(5):
            log.append("x", {}, last=number == 4)
        log.acknowledge(2**40)
        piece, last = log.after(-1)
        self.assertEqual((json.loads(piece)["seq"], last), (4, 4))

    async def test_text_and_displays_keep_their_order(self) -> None:
        log = EventLog()
        outputs = Outputs(log, 1000, 1000)
        outputs.text("stdout", b"a")
        outputs.text("stderr", b"b")
        outputs.text("stdout", b"c")
        outputs.display(display({"text/plain": "d"}))
        outputs.finish()
        events = [json.loads(line) for line in log.after(-1)[0].splitlines()]
        self.assertEqual([event.get("text") or event["data"]["text/plain"] for event in events], ["a", "b", "c", "d"])

    async def test_a_bundle_over_the_cap_is_told_and_not_sent(self) -> None:
        log = EventLog()
        outputs = Outputs(log, 1000, 1000)
        outputs.display(display({"text/html": "x" * (MAX_BUNDLE_BYTES + 1)}))
        self.assertEqual(log.next_seq, 0)
        self.assertEqual(outputs.truncated()[0]["reason"], "bundle_too_large")


    async def test_what_a_kernel_claims_not_to_have_sent_has_a_bound(self) -> None:
        outputs = Outputs(EventLog(), 1000, 1000)
        for _ in range(3):
            outputs.skipped("stdout", 2**64 - 1)
            outputs.omitted(OmittedDisplays(MAX_CLAIMED_BYTES, "max_display_bytes"))
        self.assertEqual(outputs.output_bytes, MAX_CLAIMED_BYTES)
        self.assertEqual([told["what"] for told in outputs.truncated()], ["stdout", "display"])

    async def test_room_shrinks_with_what_is_kept(self) -> None:
        outputs = Outputs(EventLog(), 10, 5, 2)
        self.assertEqual((outputs.budget()["stdout"], outputs.tail_limit("stdout")), (10, None))
        outputs.text("stdout", b"x" * 12)
        outputs.display(display({"text/plain": "abc"}))
        budget = outputs.budget()
        self.assertEqual((budget["stdout"], budget["stderr"], budget["tail"], budget["displays"]), (0, 10, 5, 1))
        self.assertEqual(outputs.tail_limit("stdout"), 5)
        self.assertLess(budget["display_bytes"], MAX_DISPLAY_BYTES - 2)

    async def test_numbers_that_had_to_change_are_told(self) -> None:
        for number in (float("nan"), float("-inf"), 2**63):
            outputs = Outputs(EventLog(), 1000, 1000)
            outputs.display(display({"application/json": {"n": number}}))
            self.assertEqual([entry["reason"] for entry in outputs.truncated()], ["numbers_changed"])

    async def test_what_is_cut_from_an_error_is_counted(self) -> None:
        outputs = Outputs(EventLog(), 1000, 1000)
        outputs.error("E", "v" * 70_000, ["é" * 10], 0)
        told = {"what": "error", "total_bytes": 70_021, "kept_bytes": 65_557, "reason": "max_error_bytes"}
        self.assertEqual(outputs.truncated(), [told])
        outputs.error("E", "", ["x" * 300_000], 5)
        told = {"what": "error", "total_bytes": 70_021 + 300_006, "kept_bytes": 65_558, "reason": "max_error_bytes"}
        self.assertEqual(outputs.truncated(), [told])

    async def test_an_error_that_is_whole_is_not_told_as_cut(self) -> None:
        outputs = Outputs(EventLog(), 1000, 1000)
        self.assertTrue(outputs.error("ValueError", "é" * 1000, ["line"] * 100, 0))
        self.assertEqual(outputs.truncated(), [])
        self.assertEqual(outputs.output_bytes, 10 + 2000 + 400)

    async def test_errors_count_towards_the_output_and_are_bounded_together(self) -> None:
        log = EventLog()
        outputs = Outputs(log, 1000, 1000)
        for _ in range(200):
            outputs.error("E", "", ["x" * 60_000], 0)
        self.assertEqual(outputs.output_bytes, 200 * 60_001)
        self.assertLess(log.bytes, MAX_ERROR_BYTES + 100_000)
        self.assertFalse(outputs.error("E", "", ["x" * 60_000], 0))
        [entry] = outputs.truncated()
        self.assertEqual((entry["what"], entry["total_bytes"] > entry["kept_bytes"]), ("error", True))

    async def test_a_large_number_of_small_errors_is_bounded(self) -> None:
        log = EventLog()
        outputs = Outputs(log, 1000, 1000)
        for _ in range(5 * MAX_ERROR_EVENTS):
            outputs.error("E", "", [""] * 5_000, 0)
        self.assertEqual(log.next_seq, MAX_ERROR_EVENTS)
        # Each of the empty lines costs three bytes of the event.
        self.assertLess(log.bytes, MAX_ERROR_EVENTS * 4 * MAX_TRACEBACK_LINES)

    async def test_a_cell_whose_error_was_dropped_still_says_why_it_failed(self) -> None:
        log = EventLog()
        outputs = Outputs(log, 1000, 1000, max_total_bytes=10)
        outputs.error("First", "x" * 11, [], 0)
        self.assertFalse(outputs.error("Second", "y" * 11, [], 0))
        outputs.short_error("Second", "y" * 100_000)
        events = [json.loads(line) for line in log.after(-1)[0].splitlines()]
        self.assertEqual([(event["name"], len(event["value"])) for event in events], [("First", 11), ("Second", 4096)])

    async def test_nothing_is_shown_any_more_past_the_limit_of_the_output(self) -> None:
        log = EventLog()
        outputs = Outputs(log, 1000, 1000, max_total_bytes=100)
        for _ in range(50):
            outputs.display(display({"text/plain": "x" * 60}))
        self.assertEqual((log.next_seq, outputs.is_over_total), (2, True))
        self.assertEqual(outputs.truncated()[0]["reason"], "max_total_bytes")

    async def test_characters_that_json_escapes_count_as_what_they_cost(self) -> None:
        log = EventLog()
        outputs = Outputs(log, 1000, 1000)
        for _ in range(30):
            outputs.display(display({"text/plain": "\0" * 1_000_000}))
        self.assertLess(log.bytes, MAX_DISPLAY_BYTES + 100_000)


if __name__ == "__main__":
    unittest.main()
