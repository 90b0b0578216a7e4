"""Another process swaps entries while they are opened: no byte comes from outside the folder."""

import ctypes
import os
import signal
import sys
import tempfile
import time
import unittest
from collections.abc import Callable
from unittest import mock

from cellblock_supervisor.files import walk

TRIES = 10_000
MINE, FOREIGN = b"mine", b"foreign"
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2
_libc = ctypes.CDLL(None, use_errno=True)


# What happens once, right before a name is opened: the moment that a race has to meet by luck.
before_opening: dict[object, Callable[[], None]] = {}


def _at_opening(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open" and isinstance(arguments[0], str) and arguments[0] in before_opening:
        before_opening.pop(arguments[0])()


sys.addaudithook(_at_opening)


class SwapRaces(unittest.TestCase):
    """`target` names what is opened; the swapper exchanges it with `other`, forever, in another process."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.outside, self.folder = f"{folder.name}/outside", f"{folder.name}/data"
        os.makedirs(f"{self.outside}/sub")
        os.makedirs(f"{self.folder}/sub")
        for path in (f"{self.outside}/file", f"{self.outside}/sub/file"):
            write(path, FOREIGN)
        for path in (f"{self.folder}/file", f"{self.folder}/sub/file"):
            write(path, MINE)
        self.root = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
        self.addCleanup(os.close, self.root)

    def swap(self, target: str, other: str) -> None:
        pid = os.fork()
        if pid == 0:
            while True:
                exchange(f"{self.folder}/{target}", f"{self.folder}/{other}")
        self.addCleanup(os.waitpid, pid, 0)
        self.addCleanup(os.kill, pid, signal.SIGKILL)

    def open_often(self, names: list[str]) -> tuple[set[bytes], int]:
        """Every content that came out in that many tries, and how often nothing did."""
        seen, refused = set[bytes](), 0
        for _ in range(TRIES):
            try:
                fd = walk.open_file(self.root, names)
            except (OSError, walk.NotAFile):
                refused += 1
                continue
            seen.add(os.read(fd, 100))
            os.close(fd)
        return seen, refused

    def assert_only_mine(self, names: list[str]) -> None:
        seen, refused = self.open_often(names)
        self.assertEqual(seen, {MINE})
        # Both sides of the swap were met, or nothing was tried.
        self.assertGreater(refused, 0)

    def test_file_and_symlink(self) -> None:
        os.symlink(f"{self.outside}/file", f"{self.folder}/other")
        self.swap("file", "other")
        self.assert_only_mine(["file"])

    def test_folder_and_symlink(self) -> None:
        os.symlink(f"{self.outside}/sub", f"{self.folder}/other")
        self.swap("sub", "other")
        self.assert_only_mine(["sub", "file"])

    def test_file_and_hard_link_of_another_owner(self) -> None:
        os.link(f"{self.outside}/file", f"{self.folder}/other")
        self.swap("file", "other")
        with mock.patch.object(walk, "WORKER_UID", os.getuid() + 1):
            self.assert_only_mine(["file"])

    def test_file_and_pipe_without_blocking(self) -> None:
        os.mkfifo(f"{self.folder}/other")
        self.swap("file", "other")
        self.assert_only_mine(["file"])

    def test_does_not_follow_a_link_that_appears_between_stat_and_open(self) -> None:
        os.symlink(f"{self.outside}/file", f"{self.folder}/other")
        before_opening["file"] = lambda: exchange(f"{self.folder}/file", f"{self.folder}/other")
        with self.assertRaises(OSError):
            walk.open_file(self.root, ["file"])
        self.assertEqual(before_opening, {})

    def test_scans_only_entries_below_the_folder(self) -> None:
        os.symlink(self.outside, f"{self.folder}/other")
        self.swap("sub", "other")
        paths = set[str]()
        for _ in range(TRIES // 10):
            paths |= {str(entry[0]) for entry in walk.scan(self.root)["files"]}
        self.assertLessEqual(paths, {"file", "sub/file", "other/file"})

    def test_would_detect_foreign_bytes(self) -> None:
        """The control: who follows links gets foreign bytes out of the same race."""
        os.symlink(f"{self.outside}/file", f"{self.folder}/other")
        self.swap("file", "other")
        seen, deadline = set[bytes](), time.monotonic() + 30
        while FOREIGN not in seen and time.monotonic() < deadline:
            with open(f"{self.folder}/file", "rb") as file:
                seen.add(file.read())
        self.assertIn(FOREIGN, seen)


def write(path: str, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)


def exchange(first: str, second: str) -> None:
    """Swaps atomically, so that both names always exist."""
    _libc.renameat2(_AT_FDCWD, first.encode(), _AT_FDCWD, second.encode(), _RENAME_EXCHANGE)


if __name__ == "__main__":
    unittest.main()
