"""What a kernel sends is turned into JSON that any parser can read."""

import json
import unittest

from cellblock_supervisor.execution import json_guard


class HostileJson(unittest.TestCase):
    def test_nothing_that_some_parser_refuses_is_left(self) -> None:
        dirty = json.loads(
            '{"n": NaN, "i": [Infinity, -Infinity], "big": 123456789012345678901234567890, "s": "\\ud800x", "\\udc00": "\\ud83d\\ude00"}'
        )
        cleaned, has_changed = json_guard.clean(dirty)
        self.assertTrue(has_changed)
        text = json.dumps(cleaned, allow_nan=False, ensure_ascii=False)
        text.encode()
        self.assertEqual(json.loads(text)["s"], "\ufffdx")
        self.assertEqual(json.loads(text)["\ufffd"], "\U0001f600")

    def test_numbers_that_json_has_are_left_alone(self) -> None:
        plain = {"n": [0, -1.5, 2**63 - 1, -(2**63), True, None]}
        self.assertEqual(json_guard.clean(plain), (plain, False))

    def test_depth_and_size_are_bounded(self) -> None:
        deep: object = 1
        for _ in range(100):
            deep = [deep]
        for value in (deep, list(range(100_000))):
            with self.assertRaises(json_guard.NotAcceptable):
                json_guard.clean(value)

    def test_a_message_that_is_no_object_is_nothing(self) -> None:
        for body in (b"", b"[1]", b"{", b"[" * 100_000, b"\xff", b"null"):
            self.assertIsNone(json_guard.parse_message(body))


if __name__ == "__main__":
    unittest.main()
