"""Sanitizing of the kernel's JSON, so that any parser can read it."""

import json
import unittest

from cellblock_supervisor.execution import json_guard


class HostileJson(unittest.TestCase):
    def test_removes_everything_that_some_parsers_refuse(self) -> None:
        dirty = json.loads(
            '{"n": NaN, "i": [Infinity, -Infinity], "big": 123456789012345678901234567890, "s": "\\ud800x", "\\udc00": "\\ud83d\\ude00"}'
        )
        cleaned, has_changed = json_guard.clean(dirty)
        self.assertTrue(has_changed)
        text = json.dumps(cleaned, allow_nan=False, ensure_ascii=False)
        text.encode()
        self.assertEqual(json.loads(text)["s"], "\ufffdx")
        self.assertEqual(json.loads(text)["\ufffd"], "\U0001f600")

    def test_keeps_numbers_that_json_has(self) -> None:
        plain = {"n": [0, -1.5, 2**63 - 1, -(2**63), True, None]}
        self.assertEqual(json_guard.clean(plain), (plain, False))

    def test_depth_and_size_are_bounded(self) -> None:
        deep: object = 1
        for _ in range(100):
            deep = [deep]
        for value in (deep, list(range(100_000))):
            with self.assertRaises(json_guard.NotAcceptable):
                json_guard.clean(value)

    def test_ignores_messages_that_are_no_objects(self) -> None:
        for body in (b"", b"[1]", b"{", b"[" * 100_000, b"\xff", b"null"):
            self.assertIsNone(json_guard.parse_message(body))

    def test_reads_utf8_only(self) -> None:
        text = '{"a":"\u2200","b":[' + "{}," * 200_000 + "0]}"
        for encoding in ("utf-16", "utf-32"):
            self.assertIsNone(json_guard.parse_message(text.encode(encoding)))
        # These bytes are also UTF-8, of other characters.
        for encoding in ("utf-16-le", "utf-16-be"):
            small = '{"a":"\u2200","b":[0]}'.encode(encoding)
            self.assertEqual(json.loads(small)["b"], [0])
            self.assertIsNone(json_guard.parse_message(small))
        with self.assertRaises(json_guard.NotAcceptable):
            json_guard.parse_message(text.encode())

    def test_drops_a_message_with_too_many_values_before_it_is_parsed(self) -> None:
        for body in (b"[" + b"[]," * 1_000_000 + b"1]", b'{"a":[' + b'"",' * 500_000 + b"1]}"):
            with self.assertRaisesRegex(json_guard.NotAcceptable, "too_many_keys"):
                json_guard.parse_message(body)
        text = json.dumps({"data": ",[{" * 500_000}).encode()
        self.assertEqual(len(json_guard.parse_message(text)["data"]), 1_500_000)  # type: ignore[index, arg-type]


if __name__ == "__main__":
    unittest.main()
