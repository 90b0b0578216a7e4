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

from cellblock_supervisor.worker.programs import archive_unpacking, file_operations, file_preview


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

    def watch(self, **fields: object) -> subprocess.Popen[bytes]:
        request = json.dumps({"op": "watch", "path": self.root, **fields})
        watching = subprocess.Popen(
            [sys.executable, "-I", "-S", file_operations.__file__, request], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.addCleanup(watching.communicate)
        self.addCleanup(watching.kill)
        self.assertEqual(json.loads(watching.stdout.readline())["op"], "watching")
        return watching

    def changes(self, watching: subprocess.Popen[bytes]) -> list[tuple[str, str, str | None]]:
        """Those before this call, as (operation, name, earlier name)."""
        watching.stdin.write(b"now\n")
        watching.stdin.flush()
        found = []
        while (change := json.loads(watching.stdout.readline()))["op"] != "synced":
            name, source = (os.path.relpath(path, self.root) if path else None for path in (change["path"], change.get("from")))
            found.append((change["op"], name, source))
        return found

    def test_watches_creation_change_rename_and_removal(self) -> None:
        self.write("old")
        watching = self.watch()
        self.write("new")
        os.rename(self.path("old"), self.path("renamed"))
        os.chmod(self.path("new"), 0o600)
        os.remove(self.path("new"))
        os.rename(self.path("renamed"), f"{self.root}-away")
        self.addCleanup(os.remove, f"{self.root}-away")
        self.assertEqual(
            self.changes(watching),
            [
                ("create", "new", None),
                ("write", "new", None),
                ("rename", "renamed", "old"),
                ("chmod", "new", None),
                ("remove", "new", None),
                ("moved_away", "renamed", None),
            ],
        )
        self.assertEqual(self.changes(watching), [])

    def test_watches_folders_that_are_made_while_it_watches(self) -> None:
        watching = self.watch(recursive=True)
        self.write("deep", "deeper", "f")
        found = self.changes(watching)
        for name in ("deep", "deep/deeper", "deep/deeper/f"):
            self.assertIn(("create", name, None), found)
        self.write("deep", "deeper", "f", data=b"y")
        self.assertIn(("write", "deep/deeper/f", None), self.changes(watching))

    def test_watches_an_upload_as_one_change(self) -> None:
        self.write("known")
        watching = self.watch()
        for name in ("known", "fresh"):
            self.write(".cellblock-upload-1")
            os.rename(self.path(".cellblock-upload-1"), self.path(name))
        self.assertEqual(
            self.changes(watching),
            [("write", "known", None), ("create", "fresh", None), ("chmod", "fresh", None), ("write", "fresh", None)],
        )

    def test_watches_with_the_entry_of_what_changed(self) -> None:
        watching = self.watch(with_entry=True, attributes="user.test.")
        self.write("f", data=b"12")
        created = json.loads(watching.stdout.readline())
        self.assertEqual((created["entry"]["name"], created["entry"]["type"]), ("f", "file"))

    def test_keeps_extended_attributes_of_one_prefix(self) -> None:
        path = self.write("f")
        try:
            os.setxattr(path, "user.other", b"kept")
        except OSError:
            self.skipTest("this file system has no extended attributes")
        self.run_op("annotate", paths=[path], attributes="user.test.", values={"a": "1", "b": "2"})
        self.run_op("annotate", paths=[path], attributes="user.test.", values={"a": "3"})
        self.assertEqual(self.run_op("stat", path=path, attributes="user.test.")["entry"]["attributes"], {"a": "3"})
        self.assertEqual(os.getxattr(path, "user.other"), b"kept")
        self.assertNotIn("attributes", self.run_op("stat", path=path)["entry"])

    def test_says_what_a_link_leads_to(self) -> None:
        path = self.write("kept", "f")
        os.symlink("kept/f", self.path("link"))
        os.symlink("missing", self.path("dangling"))
        entry = self.run_op("stat", path=self.path("link"))["entry"]
        self.assertEqual((entry["target"], entry["resolved"]["path"], entry["resolved"]["type"]), ("kept/f", path, "file"))
        self.assertNotIn("resolved", self.run_op("stat", path=self.path("dangling"))["entry"])

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
        written = "Name;Größe\r\nCafé;3\r\n"
        table = {"kind": "table", "columns": ["Name", "Größe"], "rows": [["Café", "3"]], "is_truncated": False}
        for data in (written.encode("cp1252"), written.encode("utf-16"), b"\xfe\xff" + written.encode("utf-16-be"), written.encode("utf-8-sig")):
            self.assertEqual(self.preview("t.csv", data), table)
        self.assertEqual(self.preview("t.csv", f"sep=;\r\n{written}".encode("cp1252")), table)
        self.assertEqual(self.preview("t.csv", b"a\0b"), {"kind": "binary", "hex": "61 00 62"})
        self.assertEqual(self.preview("t.txt", "Grüße".encode("utf-16"))["lines"], ["Grüße"])
        self.assertEqual(self.preview("t.txt", "Grüße".encode("cp1252"))["lines"], ["Grüße"])

    def test_names_the_library_that_the_image_lacks(self) -> None:
        why = "The preview needs the library {}, which the image of this container lacks. Download the file, or use an image that has it."
        for name, data, library in (
            ("t.parquet", b"PAR1\0PAR1", "pyarrow"),
            ("t.feather", b"ARROW1\0\0", "pyarrow"),
            ("t.xls", bytes.fromhex("d0cf11e0a1b11ae1") + bytes(8), "xlrd"),
        ):
            shown = self.preview(name, data)
            self.assertEqual((shown["kind"], shown["problem"]), ("binary", why.format(library)))

    def test_says_that_a_file_is_not_what_its_name_says(self) -> None:
        self.assertEqual(self.preview("t.xlsx", b"PK\3\4\0")["problem"], "The file cannot be read as .xlsx. BadZipFile: File is not a zip file")

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
