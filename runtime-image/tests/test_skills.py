"""Skills: written completely or not at all, with nothing outside of their folder."""

import asyncio
import json
import os
import stat
import tempfile
import unittest
from collections.abc import AsyncIterator

from cellblock_supervisor import skills


def bundle(*files: tuple[str, bytes, bool]) -> bytes:
    index = {"v": 1, "files": [{"path": path, "bytes": len(content), "executable": run} for path, content, run in files]}
    return json.dumps(index).encode() + b"\n" + b"".join(content for _, content, _ in files)


class Skills(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = folder.name + "/skills"

    def write(self, name: str, content: bytes, piece: int = 7) -> None:
        async def body() -> AsyncIterator[bytes]:
            for at in range(0, len(content), piece):
                yield content[at : at + piece]

        asyncio.run(skills.write(name, body(), self.root))

    def test_writes_files_with_their_modes(self) -> None:
        self.write("a-1", bundle(("SKILL.md", b"text\n", False), ("x/y/run.sh", b"#!/bin/sh\n", True), ("empty", b"", False)))
        self.assertEqual(skills.folders(self.root), ["a-1"])
        for path, mode in (("SKILL.md", 0o644), ("x/y/run.sh", 0o755), ("x/y", 0o755), ("", 0o755), ("empty", 0o644)):
            self.assertEqual(stat.S_IMODE(os.stat(f"{self.root}/a-1/{path}").st_mode), mode, path)
        with open(f"{self.root}/a-1/x/y/run.sh", "rb") as file:
            self.assertEqual(file.read(), b"#!/bin/sh\n")

    def test_keeps_a_folder_that_exists(self) -> None:
        self.write("a", bundle(("SKILL.md", b"first", False)))
        self.write("a", bundle(("SKILL.md", b"second", False)))
        with open(f"{self.root}/a/SKILL.md", "rb") as file:
            self.assertEqual(file.read(), b"first")
        self.assertEqual(os.listdir(self.root), ["a"])

    def test_refuses_other_bundles_and_leaves_nothing(self) -> None:
        good = bundle(("a", b"123", False))
        hostile = (
            b"",
            b"no line",
            b"[]\n",
            b'{"v":2,"files":[]}\n',
            b'{"v":1,"files":[5]}\n',
            b"[" * 100_000 + b"\n",
            good[:-1],
            good + b"4",
            bundle(("a", b"1", False), ("a", b"2", False)),
            bundle(("a", b"1", False), ("a/b", b"2", False)),
            bundle(("a/b", b"1", False), ("a", b"2", False)),
            *(bundle((path, b"1", False)) for path in ("../a", "/etc/a", "a/../../b", "", ".", "a//b", "a\0b", "x" * 256)),
            b'{"v":1,"files":[{"path":"a","bytes":-1}]}\n',
            b'{"v":1,"files":[{"path":"a","bytes":true}]}\n1',
            json.dumps({"v": 1, "files": [{"path": "a", "bytes": skills.MAX_BUNDLE_BYTES + 1}]}).encode() + b"\n",
            b" " * (skills.MAX_INDEX_BYTES + 1) + good,
        )
        for content in hostile:
            with self.assertRaises(skills.BundleError, msg=content[:60]):
                self.write("b", content, 4096)
        self.assertEqual(skills.folders(self.root), [])
        self.assertEqual(os.listdir(self.root) if os.path.isdir(self.root) else [], [])

    def test_accepts_plain_folder_names_only(self) -> None:
        for name in ("a", "csv-report-0123456789ab", "a" * 77):
            self.assertTrue(skills.is_folder_name(name), name)
        for name in ("", "..", "a/b", "A", "-a", "a-", "a--b", ".incoming-1", "a\n", "é", "a" * 129):
            self.assertFalse(skills.is_folder_name(name), name)
