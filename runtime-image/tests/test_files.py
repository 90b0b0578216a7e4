"""Validation of paths, and the scan, which never leaves its folder."""

import os
import sqlite3
import tempfile
import unittest
from unittest import mock

from cellblock_supervisor.files import paths, tracker, walk
from cellblock_supervisor.files.client import FileError
from cellblock_supervisor.files.tracker import FileTracker


class Paths(unittest.TestCase):
    def test_accepts_plain_names(self) -> None:
        for path in ("a", "a/b.txt", ".hidden", "ü €", "a\\b", "CON", "..."):
            self.assertEqual(paths.segments(path), path.split("/"))

    def test_refuses_every_other_path(self) -> None:
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

    def test_bounds_the_bytes_of_all_paths_as_json(self) -> None:
        for number in range(40):
            self.write("\1" * 200 + str(number))
        with mock.patch.object(walk, "MAX_LISTED_BYTES", 12_200):
            found = walk.scan(self.root)
        self.assertEqual((len(found["files"]), found["skipped"]), (10, [[".", walk.TOO_MANY]]))

    def test_finds_files_and_names_what_it_skips(self) -> None:
        self.write("a")
        self.write("b/c")
        os.symlink("/etc/passwd", f"{self.folder}/link")
        os.symlink("/etc", f"{self.folder}/folder")
        os.mkfifo(f"{self.folder}/pipe")
        self.write("one")
        os.link(f"{self.folder}/one", f"{self.folder}/two")
        found = walk.scan(self.root)
        self.assertCountEqual([entry[0] for entry in found["files"]], ["a", "b/c", "one", "two"])
        self.assertCountEqual(found["skipped"], [["link", "symlink"], ["folder", "symlink"], ["pipe", "not_regular"]])

    def test_refuses_further_names_of_files_that_the_worker_does_not_own(self) -> None:
        self.write("one")
        os.link(f"{self.folder}/one", f"{self.folder}/two")
        with mock.patch.object(walk, "WORKER_UID", os.getuid() + 1):
            found = walk.scan(self.root)
            with self.assertRaisesRegex(walk.NotAFile, "hardlink"):
                walk.open_file(self.root, ["two"])
        self.assertEqual((found["files"], sorted(found["skipped"])), ([], [["one", "hardlink"], ["two", "hardlink"]]))

    def test_leaves_out_files_of_sqlite_that_hold_no_change(self) -> None:
        for name, mode in (("wal.db", "wal"), ("old.db", "delete"), ("open.db", "delete")):
            connection = sqlite3.connect(f"{self.folder}/{name}", isolation_level=None)
            self.addCleanup(connection.close)
            connection.execute(f"PRAGMA journal_mode = {mode}")
            connection.execute("PRAGMA cache_size = 1")
            connection.execute("CREATE TABLE t (x)")
            connection.execute("BEGIN")
            connection.executemany("INSERT INTO t VALUES (?)", [("x" * 5000,)] * (50 if name == "open.db" else 1))
        self.write("notes")
        self.write("notes-wal")
        found = [entry[0] for entry in walk.scan(self.root)["files"]]
        # The third has changed its database already, so its journal is needed.
        self.assertCountEqual(found, ["notes", "notes-wal", "old.db", "open.db", "open.db-journal", "wal.db", "wal.db-wal"])

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

    def test_names_a_bounded_number_of_skipped_entries(self) -> None:
        for number in range(walk.MAX_SKIPPED + 50):
            os.symlink("x", f"{self.folder}/{number}")
        found = walk.scan(self.root)["skipped"]
        self.assertEqual(len(found), walk.MAX_SKIPPED + 1)
        self.assertEqual(found[-1], [".", "too_many_skipped"])

    def test_leaks_no_descriptor(self) -> None:
        self.write("a/b/c/d")
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(20):
            walk.scan(self.root)
            os.close(walk.open_file(self.root, ["a", "b", "c", "d"]))
            with self.assertRaises(OSError):
                walk.open_file(self.root, ["a", "x", "y"])
            # Code closed the folder to changes.
            os.chmod(f"{self.folder}/a", 0o500)
            with self.assertRaises(PermissionError):
                walk.open_parent(self.root, ["a", "new", "file"], create=True)
            os.chmod(f"{self.folder}/a", 0o700)
        self.assertEqual(len(os.listdir("/proc/self/fd")), before)


class Folder:
    """A files client that answers from dicts: contents by path and reasons of skipped entries."""

    def __init__(self) -> None:
        self.contents: dict[str, bytes] = {}
        self.skipped: list[list[object]] = []
        # Bytes on disk; those of the content, when none are named.
        self.allocated: dict[str, int] = {}

    async def scan(self) -> dict[str, list[list[object]]]:
        files = [[path, 1, len(data), hash(data), 0, self.allocated.get(path, len(data))] for path, data in self.contents.items()]
        return {"files": files, "skipped": self.skipped}

    async def open(self, path: str) -> int:
        if path not in self.contents:
            raise FileError("ENOENT", "gone")
        fd = os.memfd_create(path.replace("/", "-"))
        os.write(fd, self.contents[path])
        os.lseek(fd, 0, os.SEEK_SET)
        return fd


class Tracker(unittest.IsolatedAsyncioTestCase):
    def setUp(self) -> None:
        self.folder = Folder()
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        # Its only entry makes the tracker ask the client.
        self.entry = os.path.join(place.name, "entry")
        os.mkdir(self.entry)
        listed = os.open(place.name, os.O_RDONLY | os.O_DIRECTORY)
        self.addCleanup(os.close, listed)
        self.tracker = FileTracker(self.folder, lambda: listed)  # type: ignore[arg-type]

    async def test_reads_no_more_of_an_empty_folder_and_reports_what_was_deleted(self) -> None:
        self.folder.contents, self.folder.skipped = {"x": b"1"}, [["a", "symlink"]]
        await self.tracker.changes()
        os.rmdir(self.entry)
        with mock.patch.object(self.folder, "scan", side_effect=AssertionError("the folder is empty")):
            changes = await self.tracker.changes()
            self.assertEqual((changes.files, changes.deleted, changes.skipped), ([], ["x"], []))
        os.mkdir(self.entry)
        changes = await self.tracker.changes()
        self.assertEqual([(file["path"], file["change"]) for file in changes.files], [("x", "created")])
        self.assertEqual(changes.skipped, [{"path": "a", "reason": "symlink"}])

    async def test_reports_a_skipped_entry_once_and_again_when_it_changes(self) -> None:
        self.folder.skipped = [["a", "symlink"]]
        self.assertEqual((await self.tracker.changes()).skipped, [{"path": "a", "reason": "symlink"}])
        self.assertEqual((await self.tracker.changes()).skipped, [])
        self.folder.skipped = [["a", "hardlink"], ["b", "symlink"]]
        self.assertEqual([entry["path"] for entry in (await self.tracker.changes()).skipped], ["a", "b"])
        self.folder.skipped = []
        await self.tracker.changes()
        self.folder.skipped = [["a", "hardlink"]]
        self.assertEqual([entry["path"] for entry in (await self.tracker.changes()).skipped], ["a"])

    async def test_reports_files_of_an_unreadable_folder_neither_as_deleted_nor_later_as_created(self) -> None:
        self.folder.contents = {"d/e/f": b"1", "x": b"2"}
        await self.tracker.changes()
        self.folder.contents, self.folder.skipped = {}, [["d", "unreadable"]]
        self.assertEqual((await self.tracker.changes()).deleted, ["x"])
        self.folder.contents, self.folder.skipped = {"d/e/f": b"1"}, []
        changes = await self.tracker.changes()
        self.assertEqual((changes.files, changes.deleted), ([], []))
        self.folder.contents = {}
        self.assertEqual((await self.tracker.changes()).deleted, ["d/e/f"])

    async def test_bounds_the_holes_of_all_files_together(self) -> None:
        half = b"\0" * (tracker.MAX_HOLE_BYTES // 2)
        self.folder.contents = {"a": half, "b": half, "c": b"\0", "d": half}
        self.folder.allocated = {"a": 0, "b": 0, "c": 0}
        changes = await self.tracker.changes()
        self.assertEqual([file["path"] for file in changes.files], ["a", "b", "d"])
        self.assertEqual(changes.skipped, [{"path": "c", "reason": "too_large"}])

    async def test_reports_the_bound_on_files_each_time_and_deletes_nothing(self) -> None:
        self.folder.contents = {"x": b"1"}
        await self.tracker.changes()
        self.folder.contents, self.folder.skipped = {"y": b"1"}, [[".", walk.TOO_MANY]]
        for _ in range(2):
            changes = await self.tracker.changes()
            self.assertEqual((changes.deleted, changes.skipped, changes.bounds), ([], [], [walk.TOO_MANY]))

    async def test_reports_that_not_every_skipped_entry_is_named(self) -> None:
        self.folder.skipped = [[str(number), "symlink"] for number in range(walk.MAX_SKIPPED + 1)]
        first, second, third = [await self.tracker.changes() for _ in range(3)]
        self.assertEqual((len(first.skipped), first.bounds), (walk.MAX_SKIPPED, [walk.TOO_MANY_SKIPPED]))
        self.assertEqual(([entry["path"] for entry in second.skipped], second.bounds), ([str(walk.MAX_SKIPPED)], []))
        self.assertEqual((third.skipped, third.bounds), ([], []))


if __name__ == "__main__":
    unittest.main()
