"""What the store of files does not keep survives a snapshot: modes, times, empty folders, links."""

import os
import pickle
import shutil
import stat
import tempfile
import unittest
from unittest import mock

from cellblock_supervisor.worker.snapshot.process import file_attributes
from cellblock_supervisor.worker.snapshot.process.file_attributes import FileAttributes


class FileAttributesTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = folder.name

    def _path(self, name: str) -> str:
        return os.path.join(self.top, name)

    def _write(self, name: str, text: str = "text") -> str:
        with open(self._path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return file.name

    def _saved(self) -> tuple[list[dict[str, str]], object, object]:
        lost: list[dict[str, str]] = []
        read = FileAttributes(lost, (self.top,))
        parts = pickle.loads(pickle.dumps((read.folders_and_links(), read.modes_and_times())))
        return lost, *parts

    def test_modes_times_folders_and_links_come_back(self) -> None:
        os.makedirs(self._path("out/logs"))
        script = self._write("go.sh")
        os.chmod(script, 0o755)
        os.utime(script, ns=(1_000_000_001, 1_000_000_001))
        os.chmod(self._write("out/fixed.txt"), 0o444)
        os.symlink("go.sh", self._path("latest"))
        os.symlink("/nowhere", self._path("out/broken"))
        os.chmod(self._path("out/logs"), 0o700)
        os.utime(self._path("out"), ns=(2_000_000_000, 2_000_000_000))
        lost, folders_and_links, modes_and_times = self._saved()
        self.assertEqual(lost, [])
        shutil.rmtree(self.top)
        # As the store restores the files.
        os.makedirs(self._path("out"))
        self._write("go.sh")
        self._write("out/fixed.txt")
        file_attributes.make_folders_and_links(folders_and_links)  # type: ignore[arg-type]
        file_attributes.set_modes_and_times(modes_and_times)  # type: ignore[arg-type]
        modes = {name: stat.S_IMODE(os.stat(self._path(name)).st_mode) for name in ("go.sh", "out/fixed.txt", "out/logs")}
        self.assertEqual(modes, {"go.sh": 0o755, "out/fixed.txt": 0o444, "out/logs": 0o700})
        self.assertEqual([os.stat(self._path(name)).st_mtime_ns for name in ("go.sh", "out")], [1_000_000_001, 2_000_000_000])
        self.assertEqual([os.readlink(self._path(name)) for name in ("latest", "out/broken")], ["go.sh", "/nowhere"])

    def test_a_file_that_was_replaced_keeps_its_time_and_a_missing_one_is_ignored(self) -> None:
        os.utime(self._write("a"), (1, 1))
        self._write("b")
        os.symlink("a", self._path("link"))
        _, folders_and_links, modes_and_times = self._saved()
        os.unlink(self._path("b"))
        os.unlink(self._path("link"))
        self._write("a", "another content")
        self._write("link")
        file_attributes.make_folders_and_links(folders_and_links)  # type: ignore[arg-type]
        file_attributes.set_modes_and_times(modes_and_times)  # type: ignore[arg-type]
        self.assertGreater(os.stat(self._path("a")).st_mtime, 1)
        self.assertFalse(os.path.islink(self._path("link")))

    def test_what_exceeds_the_limits_is_named_after_plain_files(self) -> None:
        for number in range(4):
            self._write(f"plain-{number}")
        for number in range(3):
            os.mkdir(self._path(f"folder-{number}"))
        with mock.patch.object(file_attributes, "MAX_KEPT", 2):
            lost, folders_and_links, _ = self._saved()
        self.assertEqual([entry["what"].split(" ")[0] for entry in lost], ["folder"])
        self.assertEqual(len(folders_and_links[0]), 2)  # type: ignore[index]

    def test_what_cannot_be_changed_is_named(self) -> None:
        os.mkdir(self._path("closed"))
        os.chmod(self._path("closed"), 0o500)
        with self.assertRaisesRegex(OSError, "1 entries could not be changed: .*closed/link"):
            file_attributes.make_folders_and_links(([], [(self._path("closed/link"), "a")]))
