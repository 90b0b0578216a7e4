import unittest
from urllib.parse import parse_qsl

from cellblock_supervisor.http.connection import decoded
from cellblock_supervisor.http.messages import HttpError


class Targets(unittest.TestCase):
    def test_a_query_without_encoded_characters_is_read_like_any_other(self) -> None:
        for query in ("", "after=-1", "after=1&wait=x-y_z.~", "a", "a=", "a=b=c", "&&a=1&", "a=1&a=2"):
            self.assertEqual(decoded("/executions/exec_1", query), (["executions", "exec_1"], dict(parse_qsl(query))), query)

    def test_decodes_segments_and_fields(self) -> None:
        self.assertEqual(decoded("/files/%2Fa%20%C3%BC", "after=1"), (["files", "/a \u00fc"], {"after": "1"}))
        self.assertEqual(decoded("/files", "path=%2Fa+b&x=1"), (["files"], {"path": "/a b", "x": "1"}))

    def test_refuses_a_path_that_is_no_text(self) -> None:
        with self.assertRaises(HttpError):
            decoded("/files/%FF", "")
