"""File operations of the API: what they answer, and what they refuse."""

import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

from cellblock_supervisor.worker.programs import archive_unpacking, file_operations, file_preview, folder_watch


class Operations(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = os.path.realpath(folder.name)

    def run_op(self, op: str, **fields: object) -> dict[str, object]:
        return file_operations.run({"op": op, **fields}) or {}

    def path(self, *names: str) -> str:
        return os.path.join(self.root, *names)

    def write(self, *names: str, data: bytes = b"x") -> str:
        os.makedirs(os.path.dirname(self.path(*names)), exist_ok=True)
        with open(self.path(*names), "wb") as file:
            file.write(data)
        return self.path(*names)

    def code(self, reply: dict[str, object]) -> object:
        return reply["error"]["code"]  # type: ignore[index]

    def test_lists_levels_with_sizes_and_types(self) -> None:
        self.write("a", "b.txt", data=b"123")
        os.symlink("/etc/passwd", self.path("link"))
        one = self.run_op("list", path=self.root)
        self.assertEqual([(e["name"], e["type"], e["bytes"]) for e in one["entries"]], [("a", "folder", 0), ("link", "link", 0)])  # type: ignore[union-attr,index]
        two = self.run_op("list", path=self.root, depth=2)
        self.assertEqual([(e["path"], e["bytes"]) for e in two["entries"]][1], (self.path("a", "b.txt"), 3))  # type: ignore[union-attr,index]

    def test_cuts_a_list_at_its_limit_and_says_so(self) -> None:
        for number in range(5):
            self.write(f"{number}.txt")
        reply = self.run_op("list", path=self.root, limit=3)
        self.assertEqual((len(reply["entries"]), reply["is_truncated"]), (3, True))  # type: ignore[arg-type]

    def test_does_not_list_through_a_link(self) -> None:
        os.symlink("/", self.path("everything"))
        self.assertEqual(len(self.run_op("list", path=self.root, depth=3)["entries"]), 1)  # type: ignore[arg-type]

    def test_makes_moves_and_removes_folders(self) -> None:
        self.assertTrue(self.run_op("mkdir", path=self.path("x", "y"))["is_new"])
        self.assertFalse(self.run_op("mkdir", path=self.path("x", "y"))["is_new"])
        self.write("x", "y", "f")
        self.assertEqual(self.run_op("move", **{"from": self.path("x"), "to": self.path("new", "z")})["entry"]["type"], "folder")  # type: ignore[index]
        self.assertEqual(self.code(self.run_op("remove", path=self.path("new"))), "not_empty")
        self.assertEqual(self.run_op("remove", path=self.path("new"), recursive=True)["removed"], 4)
        self.assertEqual(self.code(self.run_op("stat", path=self.path("new"))), "not_found")

    def test_replaces_a_file_only_with_overwrite(self) -> None:
        a, b = self.write("a", data=b"1"), self.write("b", data=b"2")
        self.assertEqual(self.code(self.run_op("move", **{"from": a, "to": b})), "exists")
        self.assertEqual(self.run_op("move", **{"from": a, "to": b, "overwrite": True})["entry"]["bytes"], 1)  # type: ignore[index]
        self.assertEqual(self.code(self.run_op("move", **{"from": self.root, "to": self.path("b", "c")})), "invalid")

    def test_removes_a_link_and_not_what_it_names(self) -> None:
        kept = self.write("kept", "f")
        os.symlink(self.path("kept"), self.path("link"))
        self.run_op("remove", path=self.path("link"), recursive=True)
        self.assertTrue(os.path.exists(kept))

    def test_never_removes_a_root(self) -> None:
        for path in ("/", ".", "/tmp", "/mnt/data/x/.."):
            self.assertEqual(self.code(self.run_op("remove", path=path, recursive=True)), "permission_denied")

    def test_reads_a_range_and_refuses_a_pipe(self) -> None:
        path = self.write("f", data=b"0123456789")
        self.assertEqual(self.run_op("read", path=path, offset=3, length=4), {"data": "MzQ1Ng==", "bytes": 10})
        os.mkfifo(self.path("pipe"))
        self.assertEqual(self.code(self.run_op("read", path=self.path("pipe"))), "invalid")
        self.assertEqual(self.code(self.run_op("read", path=self.root)), "is_a_folder")

    def test_reports_creation_change_rename_and_removal(self) -> None:
        before = {"/a": (1, 1, 1, False), "/b": (2, 1, 1, False), "/c": (3, 1, 1, False)}
        now = {"/a": (1, 2, 2, False), "/d": (2, 1, 1, False), "/e": (9, 0, 0, True)}
        events = [(one["op"], one["path"], one.get("from")) for one in folder_watch.changes(before, now)]
        self.assertEqual(events, [("write", "/a", None), ("rename", "/d", "/b"), ("create", "/e", None), ("remove", "/c", None)])

    def test_runs_as_a_program(self) -> None:
        request = json.dumps({"op": "stat", "path": self.root})
        ran = subprocess.run([sys.executable, "-I", "-S", file_operations.__file__, request], capture_output=True, check=True, timeout=20)
        self.assertEqual(json.loads(ran.stdout)["entry"]["type"], "folder")


class Archives(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = os.path.realpath(folder.name)
        self.archive = os.path.join(self.root, "archive")
        self.target = os.path.join(self.root, "out")
        os.mkdir(self.target)

    def zip(self, files: dict[str, bytes]) -> None:
        with zipfile.ZipFile(self.archive, "w", zipfile.ZIP_DEFLATED) as packed:
            for name, data in files.items():
                packed.writestr(name, data)

    def test_unpacks_zip_and_tar(self) -> None:
        self.zip({"a/b.txt": b"1", "c.txt": b"2"})
        self.assertEqual(sorted(archive_unpacking.unpack(self.archive, self.target)), [f"{self.target}/a/b.txt", f"{self.target}/c.txt"])
        with tarfile.open(self.archive, "w:gz") as packed:
            info = tarfile.TarInfo("d/e")
            info.size = 3
            packed.addfile(info, io.BytesIO(b"abc"))
        self.assertEqual(archive_unpacking.unpack(self.archive, self.target), [f"{self.target}/d/e"])

    def test_writes_nothing_when_a_name_leads_out(self) -> None:
        for name in ("../evil", "a/../../evil", "/etc/evil", "..\\evil", "C:evil"):
            self.zip({"good.txt": b"1", name: b"2"})
            with self.assertRaisesRegex(archive_unpacking.ArchiveError, "leads out"):
                archive_unpacking.unpack(self.archive, self.target)
            self.assertEqual(os.listdir(self.target), [])

    def test_refuses_links_and_devices(self) -> None:
        with tarfile.open(self.archive, "w") as packed:
            info = tarfile.TarInfo("link")
            info.type, info.linkname = tarfile.SYMTYPE, "/etc"
            packed.addfile(info)
        with self.assertRaisesRegex(archive_unpacking.ArchiveError, "link or a device"):
            archive_unpacking.unpack(self.archive, self.target)
        with zipfile.ZipFile(self.archive, "w") as packed_zip:
            link = zipfile.ZipInfo("link")
            link.external_attr = 0o120777 << 16
            packed_zip.writestr(link, "/etc")
        with self.assertRaisesRegex(archive_unpacking.ArchiveError, "link or a device"):
            archive_unpacking.unpack(self.archive, self.target)

    def test_does_not_write_through_a_link_that_lies_there(self) -> None:
        os.symlink("/tmp", os.path.join(self.target, "folder"))
        self.zip({"folder/file": b"1"})
        with self.assertRaisesRegex(archive_unpacking.ArchiveError, "through a link"):
            archive_unpacking.unpack(self.archive, self.target)

    def test_refuses_a_bomb(self) -> None:
        self.zip({"zeros": bytes(40 * 1024 * 1024)})
        with self.assertRaisesRegex(archive_unpacking.ArchiveError, "bomb"):
            archive_unpacking.unpack(self.archive, self.target)

    def test_says_why_a_damaged_archive_is_refused(self) -> None:
        with open(self.archive, "wb") as file:
            file.write(b"PK\3\4 no archive")
        with self.assertRaises(archive_unpacking.ArchiveError):
            archive_unpacking.unpack(self.archive, self.target)


class Previews(unittest.TestCase):
    def preview(self, name: str, data: bytes) -> dict[str, object]:
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, name), "wb") as file:
                file.write(data)
            return file_preview.preview(os.path.join(folder, name), 2, 64)

    def test_shows_the_first_rows_of_a_table(self) -> None:
        shown = self.preview("t.csv", b"a;b\n1;2\n3;4\n5;6\n")
        self.assertEqual(shown, {"kind": "table", "columns": ["a", "b"], "rows": [["1", "2"], ["3", "4"]], "is_truncated": True})

    def test_shows_text_and_binary(self) -> None:
        self.assertEqual(self.preview("t.md", b"one\ntwo\nthree"), {"kind": "text", "lines": ["one", "two"], "is_truncated": True})
        self.assertEqual(self.preview("t.bin", b"\0\1"), {"kind": "binary", "hex": "00 01"})

    def test_previews_what_excel_writes(self) -> None:
        written = "Name;Größe\r\nÄpfel;3\r\n"
        table = {"kind": "table", "columns": ["Name", "Größe"], "rows": [["Äpfel", "3"]], "is_truncated": False}
        for data in (written.encode("cp1252"), written.encode("utf-16"), b"\xfe\xff" + written.encode("utf-16-be"), written.encode("utf-8-sig")):
            self.assertEqual(self.preview("t.csv", data), table)
        self.assertEqual(self.preview("t.csv", f"sep=;\r\n{written}".encode("cp1252")), table)
        self.assertEqual(self.preview("t.csv", b"a\0b"), {"kind": "binary", "hex": "61 00 62"})
        self.assertEqual(self.preview("t.txt", "Grüße".encode("utf-16"))["lines"], ["Grüße"])
        self.assertEqual(self.preview("t.txt", "Grüße".encode("cp1252"))["lines"], ["Grüße"])

    def test_shows_a_thumbnail(self) -> None:
        from PIL import Image

        data = io.BytesIO()
        Image.new("RGB", (300, 100), "red").save(data, "PNG")
        shown = self.preview("t.png", data.getvalue())
        self.assertEqual((shown["kind"], shown["width"], shown["height"]), ("image", 300, 100))

    def test_shows_a_damaged_image_as_what_it_is(self) -> None:
        shown = self.preview("t.png", b"no image")
        self.assertEqual((shown["kind"], shown["lines"]), ("text", ["no image"]))
        self.assertIn("UnidentifiedImageError", str(shown["problem"]))


if __name__ == "__main__":
    unittest.main()
