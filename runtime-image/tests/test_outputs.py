"""Events of an execution's output."""

import asyncio
import json
import unittest

from cellblock_supervisor.execution.event_log import CROWDED_BYTES, PLAIN_HEAD_BYTES, EventLog, RetainedBytes
from cellblock_supervisor.execution.outputs import (
    MAX_BUNDLE_BYTES,
    MAX_DISPLAY_BYTES,
    MAX_ERROR_BYTES,
    MAX_ERROR_EVENTS,
    MAX_TRACEBACK_LINES,
    Outputs,
    _text_bytes,
)
from cellblock_supervisor.execution.worker_messages import MAX_CLAIMED_BYTES, Display, OmittedDisplays


def display(data: dict[str, object]) -> Display:
    return Display("display_data", data, {}, None, None)


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

    async def test_delivers_a_long_log_in_pieces(self) -> None:
        log = EventLog()
        for number in range(40):
            log.append("stream", {"text": "x" * 100_000}, last=number == 39)
        seen, seq, sizes = [], -1, []
        while True:
            piece, seq = log.after(seq)
            if not piece:
                break
            sizes.append(len(piece))
            seen += [json.loads(line)["seq"] for line in piece.splitlines()]
        self.assertEqual(seen, list(range(40)))
        self.assertGreater(len(sizes), 2)
        self.assertLess(max(sizes), 2 * 1024 * 1024)

    async def test_keeps_less_of_a_stream_while_all_logs_together_are_large(self) -> None:
        kept = RetainedBytes()
        lengths = []
        for retained in (CROWDED_BYTES, CROWDED_BYTES + 1):
            kept.bytes = retained
            log = EventLog(kept)
            outputs = Outputs(log, head_bytes=4 * PLAIN_HEAD_BYTES, tail_bytes=10)
            for _ in range(2):
                outputs.text("stdout", b"x" * 2 * PLAIN_HEAD_BYTES)
                kept.bytes = retained
            outputs.finish()
            lengths.append((outputs._streams["stdout"].kept_bytes, bool(outputs.truncated())))
        self.assertEqual(lengths, [(4 * PLAIN_HEAD_BYTES, False), (PLAIN_HEAD_BYTES + 10, True)])

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
