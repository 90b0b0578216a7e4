"""Paths, and the walk that never leaves its folder."""

import os
import tempfile
import unittest

from cellblock_supervisor.files import paths, walk


class Paths(unittest.TestCase):
    def test_plain_names_are_paths(self) -> None:
        for path in ("a", "a/b.txt", ".hidden", "ü €", "a\\b", "CON", "..."):
            self.assertEqual(paths.segments(path), path.split("/"))

    def test_everything_else_is_not(self) -> None:
        for path in (
            "",
            "/",
            "/a",
            "a/",
            "a//b",
            ".",
            "..",
            "a/../b",
            "./a",
            "a\0b",
            "\udcff",
            "x" * 256,
            "a/" * 40 + "b",
            "é" * 128,
        ):
            self.assertIsNone(paths.segments(path), path)


class Walk(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.root = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
        self.addCleanup(os.close, self.root)

    def write(self, path: str) -> None:
        full = os.path.join(self.folder, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(path)

    def test_finds_files_and_names_what_it_skips(self) -> None:
        self.write("a")
        self.write("b/c")
        os.symlink("/etc/passwd", f"{self.folder}/link")
        os.symlink("/etc", f"{self.folder}/folder")
        os.mkfifo(f"{self.folder}/pipe")
        self.write("one")
        os.link(f"{self.folder}/one", f"{self.folder}/two")
        found = walk.scan(self.root)
        self.assertCountEqual([entry[0] for entry in found["files"]], ["a", "b/c"])
        self.assertCountEqual(
            found["skipped"],
            [["link", "symlink"], ["folder", "symlink"], ["pipe", "not_regular"], ["one", "hardlink"], ["two", "hardlink"]],
        )

    def test_opens_regular_files_only(self) -> None:
        self.write("b/c")
        os.symlink("c", f"{self.folder}/b/link")
        os.symlink("b", f"{self.folder}/way")
        os.mkfifo(f"{self.folder}/pipe")
        os.close(walk.open_file(self.root, ["b", "c"]))
        for names in (["b", "link"], ["pipe"], ["b"]):
            with self.assertRaises(walk.NotAFile):
                walk.open_file(self.root, names)
        for names in (["way", "c"], ["none"], ["b", "c", "d"]):
            with self.assertRaises(OSError):
                walk.open_file(self.root, names)

    def test_leaks_no_descriptor(self) -> None:
        self.write("a/b/c/d")
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(20):
            walk.scan(self.root)
            os.close(walk.open_file(self.root, ["a", "b", "c", "d"]))
            with self.assertRaises(OSError):
                walk.open_file(self.root, ["a", "x", "y"])
        self.assertEqual(len(os.listdir("/proc/self/fd")), before)


if __name__ == "__main__":
    unittest.main()
