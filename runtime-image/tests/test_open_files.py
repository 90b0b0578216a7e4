"""Open files continue after a snapshot where the code stopped reading or writing."""

import gzip
import os
import tempfile
import unittest
from unittest import mock

from cellblock_supervisor.worker.kernel import file_flush
from cellblock_supervisor.worker.snapshot.values import file_position

from .carry import carry

_LINES = "".join(f"line {number} é\n" for number in range(3_000))


class OpenFilesTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "lines.txt")
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(_LINES)

    def _carried(self, file: object) -> object:
        file_flush.flush([file])
        kept, lost = carry({"file": file})
        self.assertEqual(lost, {})
        self.addCleanup(kept["file"].close)  # type: ignore[attr-defined]
        return kept["file"]

    def test_a_file_continues_after_next_and_loops(self) -> None:
        for count in (1, 2, 700, 2_999, 3_000):
            with open(self.path, encoding="utf-8") as file, self.subTest(count=count):
                for _ in range(count):
                    next(file)
                expected = "".join(_LINES.splitlines(keepends=True)[count:])
                self.assertEqual(self._carried(file).read(), expected)  # type: ignore[attr-defined]

    def test_a_loop_that_stopped_after_readline_continues(self) -> None:
        with open(self.path, encoding="utf-8") as file:
            file.readline()
            for line in file:
                if line.startswith("line 1500 "):
                    break
            # Makes tell() legal, and wrong.
            file.flush()
            self.assertEqual(self._carried(file).readline(), "line 1501 é\n")  # type: ignore[attr-defined]

    def test_a_file_for_reading_and_writing_continues(self) -> None:
        for mode in ("r+", "w+", "a+"):
            with open(self.path, mode, encoding="utf-8") as file, self.subTest(mode=mode):
                file.write(_LINES[:100])
                file.seek(0)
                next(file)
                self.assertEqual(self._carried(file).readline(), "line 1 é\n")  # type: ignore[attr-defined]
                # The first file was not moved either.
                self.assertEqual(file.readline(), "line 1 é\n")

    def test_the_flush_after_a_cell_leaves_files_for_reading_alone(self) -> None:
        with open(self.path, encoding="utf-8") as file:
            next(file)
            file_flush.flush([file])
            self.assertRaises(OSError, file.tell)
            self.assertEqual(file.readline(), "line 1 é\n")

    def test_the_flush_after_a_cell_writes_files_and_runs_no_code_of_other_values(self) -> None:
        asked = []

        class Curious(type):
            def __getattribute__(cls, name: str) -> object:
                asked.append(name)
                return super().__getattribute__(name)

            def __eq__(cls, other: object) -> bool:
                asked.append("__eq__")
                return cls is other

            __hash__ = type.__hash__

        class Value(metaclass=Curious):
            pass

        values: list[object] = [Value(), Value]
        asked.clear()
        with open(self.path, "w", encoding="utf-8") as file:
            file.write("one")
            file_flush.flush([*values, file])
            self.assertEqual(os.path.getsize(self.path), 3)
        self.assertEqual(asked, [])

    def test_a_position_that_cannot_be_known_is_named(self) -> None:
        with open(self.path, "ab") as file:
            file.write(b"\xff" * 20_000)
        with open(self.path, encoding="utf-8") as file:
            next(file)
            kept, lost = carry({"file": file})
        self.assertNotIn("file", kept)
        self.assertIn("Its position is not known after next(file)", lost["file"])
        with open(self.path, encoding="latin-1") as file:
            next(file)
            with mock.patch.object(file_position, "MAX_COUNTED_BYTES", 10):
                kept, lost = carry({"file": file})
        self.assertIn("Its position is not known after next(file)", lost["file"])

    def test_errors_and_line_buffering_are_kept(self) -> None:
        with open(self.path, "a", encoding="ascii", errors="replace", buffering=1) as file:
            again = self._carried(file)
            self.assertEqual((again.errors, again.line_buffering), ("replace", True))  # type: ignore[attr-defined]

    def test_a_compressed_file_stays_one(self) -> None:
        with gzip.open(self.path, "wb") as file:
            file.write(_LINES.encode())
            self.assertIn("Call close()", carry({"file": file})[1]["file"])
        with gzip.open(self.path) as file:
            file.readline()
            self.assertEqual(self._carried(file).readline(), "line 1 é\n".encode())  # type: ignore[attr-defined]
