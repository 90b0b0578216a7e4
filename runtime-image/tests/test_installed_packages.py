"""Installed packages are carried to the next kernel file by file, whole or not at all."""

import os
import stat
import tempfile
import unittest

from cellblock_supervisor.worker.snapshot.frames import FrameReader
from cellblock_supervisor.worker.snapshot.installed_packages import InstalledPackages, PackageRestorer

from .carry import Pipe


class InstalledPackagesTest(unittest.TestCase):
    def setUp(self) -> None:
        for name in ("before", "after"):
            folder = tempfile.TemporaryDirectory()
            self.addCleanup(folder.cleanup)
            setattr(self, name, folder.name)
        self.lost: list[dict[str, str]] = []

    def _write(self, path: str, content: bytes, mode: int = 0o644) -> str:
        whole = os.path.join(self.before, path)
        os.makedirs(os.path.dirname(whole), exist_ok=True)
        with open(whole, "wb") as file:
            file.write(content)
        os.chmod(whole, mode)
        return whole

    def _carry(self, packages: InstalledPackages) -> dict[str, bytes]:
        pipe = Pipe()
        packages.send(pipe)  # type: ignore[arg-type]
        restorer = PackageRestorer(self.lost, self.after)
        for kind, body in FrameReader(pipe).frames():  # type: ignore[arg-type]
            self.assertEqual(kind, b"F")
            restorer.add(body)
        found = {}
        for path, _, files in os.walk(self.after):
            for name in files:
                with open(os.path.join(path, name), "rb") as file:
                    found[os.path.relpath(os.path.join(path, name), self.after)] = file.read()
        return found

    def test_files_keep_their_content_and_mode(self) -> None:
        contents = {"lib/site-packages/a.py": b"ANSWER = 42\n", "lib/site-packages/a.so": os.urandom(3 << 20), "bin/a": b"#!/bin/sh\n", "empty": b""}
        for path, content in contents.items():
            self._write(path, content, 0o755 if path == "bin/a" else 0o644)
        packages = InstalledPackages(1 << 30, self.lost, self.before)
        self.assertEqual(packages.size, sum(map(len, contents.values())))
        self.assertEqual(self._carry(packages), contents)
        self.assertEqual(stat.S_IMODE(os.stat(os.path.join(self.after, "bin/a")).st_mode), 0o755)
        self.assertEqual(self.lost, [])

    def test_packages_beyond_the_limit_are_named_and_none_is_kept(self) -> None:
        self._write("small", b"x")
        self._write("large", b"x" * 100)
        packages = InstalledPackages(100, self.lost, self.before)
        self.assertEqual(([entry["what"] for entry in self.lost], packages.size, self._carry(packages)), (["installed packages"], 0, {}))

    def test_a_file_that_changes_or_vanishes_meanwhile_does_not_break_the_others(self) -> None:
        gone, shrunk = self._write("a-gone", b"x" * 10), self._write("b-shrunk", b"y" * 10)
        self._write("c", b"kept")
        packages = InstalledPackages(1 << 30, self.lost, self.before)
        os.unlink(gone)
        os.truncate(shrunk, 3)
        self.assertEqual(self._carry(packages), {"b-shrunk": b"yyy", "c": b"kept"})

    def test_a_file_that_cannot_be_written_is_named_once(self) -> None:
        for name in ("a/b", "a/c", "d"):
            self._write(name, b"x")
        packages = InstalledPackages(1 << 30, self.lost, self.before)
        with open(os.path.join(self.after, "a"), "wb"):
            pass
        self.assertEqual(self._carry(packages), {"a": b"", "d": b"x"})
        self.assertEqual([entry["what"] for entry in self.lost], ["installed packages"])


if __name__ == "__main__":
    unittest.main()
