"""Messages of a hostile worker: every result has the types that clients expect."""

import json
import os
import pathlib
import random
import unittest

from cellblock_supervisor.cgroup import Cgroup
from cellblock_supervisor.config import Limits
from cellblock_supervisor.execution.event_log import RetainedBytes
from cellblock_supervisor.execution.execution import Execution, ExecutionRequest
from cellblock_supervisor.execution.job import JobContext, JobLimits
from cellblock_supervisor.execution.worker_messages import Display, Malformed, normalize_bundle, parse_output, parse_reply

FIELDS = ("op", "count", "data", "metadata", "transient", "bytes", "reason", "wait", "name", "value", "traceback", "cut_bytes", "status", "lost", "restored")
OPS = ("input", "display", "result", "update", "omitted", "clear", "error")
# The fields of each type of event, as the client's schema accepts them.
VECTORS = [
    event for stream in json.loads(pathlib.Path(os.environ["CELLBLOCK_VECTORS"], "events.json").read_text())["streams"] for event in stream["events"]
]
MIMES = ("text/plain", "text/html", "image/png", "application/json", "application/vnd.x+json", "", "a" * 300)


def hostile_value(source: random.Random, depth: int = 0) -> object:
    plain = (None, True, False, 0, -1, 2**31, 2**70, 1.5, float("nan"), float("inf"), "", "text", "\ud800", "ok", "bundle_too_large", "x" * 5_000)
    if depth > 3 or source.random() < 0.5:
        return source.choice(plain)
    if source.random() < 0.5:
        return [hostile_value(source, depth + 1) for _ in range(source.randrange(4))]
    names = ("toString", "valueOf", "__proto__", "display_id", "cellblock/dropped", *MIMES)
    return {source.choice(names): hostile_value(source, depth + 1) for _ in range(source.randrange(4))}


def hostile_message(source: random.Random) -> dict[str, object]:
    message = {name: hostile_value(source) for name in FIELDS if source.random() < 0.7}
    if source.random() < 0.9:
        message["op"] = source.choice(OPS)
    if source.random() < 0.7:
        message["data"] = {source.choice(MIMES): hostile_value(source) for _ in range(source.randrange(4))}
    # As it arrives: parsed from JSON.
    return json.loads(json.dumps(message))


class Messages(unittest.TestCase):
    def test_refuses_a_boolean_as_execution_count(self) -> None:
        output = parse_output({"op": "result", "data": {"text/plain": "1"}, "count": True, "metadata": ["x"]})
        self.assertEqual(output, Display("execute_result", {"text/plain": "1"}, {}, None, None))

    def test_refuses_a_display_whose_data_is_no_object(self) -> None:
        for data in (None, [], "x", 1):
            self.assertEqual(parse_output({"op": "display", "data": data}), Malformed())
        self.assertEqual(parse_output({"op": "update", "data": {}, "transient": {"display_id": 1}}), Malformed())
        self.assertEqual(parse_output({"op": ["display"]}), Malformed())

    def test_turns_bundle_values_into_text_except_for_json_types(self) -> None:
        bundle, is_cut = normalize_bundle(
            {
                "text/plain": [{"toString": 1, "valueOf": 1}],
                "text/html": ["<b>", "x", "</b>"],
                "image/png": 5,
                "application/json": [1],
                "application/vnd.x+json": {"a": 1},
                "text/x-none": None,
            }
        )
        expected = {
            "text/plain": '[{"toString": 1, "valueOf": 1}]',
            "text/html": "<b>x</b>",
            "image/png": "5",
            "application/json": [1],
            "application/vnd.x+json": {"a": 1},
        }
        self.assertEqual((bundle, is_cut), (expected, True))

    def test_bundles_are_normalised_as_the_client_normalises_them(self) -> None:
        for vector in json.loads(pathlib.Path(os.environ["CELLBLOCK_VECTORS"], "bundles.json").read_text())["bundles"]:
            with self.subTest(vector["name"]):
                self.assertEqual(normalize_bundle(vector["data"])[0], vector["expected"])

    def test_gives_every_field_of_a_reply_its_type(self) -> None:
        reply = parse_reply({"status": ["ok"], "name": {"a": 1}, "lost": [1, {"what": 5, "reason": "r"}], "restored": True, "cut_bytes": -1})
        lost = [{"what": "", "reason": ""}, {"what": "", "reason": "r"}]
        self.assertEqual((reply.ok, reply.name, reply.lost, reply.restored, reply.cut_bytes), (False, "", lost, 0, 0))


class Fuzzing(unittest.IsolatedAsyncioTestCase):
    async def test_makes_only_valid_events_of_10000_generated_messages(self) -> None:
        source = random.Random(12)
        request = ExecutionRequest(("1",), JobLimits(10_000, 1000, 1000), "stop", True)
        count = 0
        for _ in range(40):
            execution = Execution(request, JobContext(None, None, Cgroup(), Limits()), RetainedBytes())  # type: ignore[arg-type]
            for _ in range(250):
                execution.on_message(hostile_message(source))
                parse_reply(hostile_message(source))
                count += 1
            for line in execution.log.after(-1)[0].splitlines():
                self._check(json.loads(line))
        self.assertEqual(count, 10_000)

    def _check(self, event: dict[str, object]) -> None:
        self.assertIn(event["type"], ("cell_started", "display", "update_display", "clear_output", "error"))
        known = [vector.keys() for vector in VECTORS if vector["type"] == event["type"]]
        self.assertLessEqual(set.intersection(*map(set, known)), event.keys())
        self.assertLessEqual(event.keys(), set.union(*map(set, known)))
        count = event.get("execution_count")
        self.assertTrue(count is None or (type(count) is int and count >= 0), event)
        if event["type"] in ("display", "update_display"):
            self.assertIsInstance(event["metadata"], dict)
            for mime, value in event["data"].items():  # type: ignore[attr-defined]
                self.assertTrue(isinstance(value, str) or mime.startswith("application/"), event)
        if event["type"] == "update_display":
            self.assertIsInstance(event["display_id"], str)
        if event["type"] == "error":
            self.assertTrue(all(isinstance(text, str) for text in (event["name"], event["value"], *event["traceback"])))  # type: ignore[misc]


if __name__ == "__main__":
    unittest.main()
