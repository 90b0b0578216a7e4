import ctypes
import os
import unittest
from unittest import mock

from cellblock_supervisor.worker.isolation import landlock

_PR_SET_NO_NEW_PRIVS = 38


def _own_name_is_writable(version: int) -> bool:
    """The view of a confined child under this version of Landlock."""
    pid = os.fork()
    if pid == 0:
        code = 70
        try:
            ctypes.CDLL(None).prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
            with mock.patch.object(landlock, "_version", lambda: version):
                landlock.confine_writes()
            with open("/tmp/own", "w", encoding="ascii") as file:
                file.write("own")
            os.makedirs("/tmp/a", exist_ok=True)
            os.rename("/tmp/own", "/tmp/a/own")
            try:
                os.close(os.open("/proc/self/comm", os.O_WRONLY))
                code = 1
            except PermissionError:
                code = 0
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if code not in (0, 1):
        raise AssertionError(f"the child ended with {code}")
    return code == 1


class LandlockTest(unittest.TestCase):
    def test_confines_from_version_2_on(self) -> None:
        for version in (2, 3, landlock._version()) if landlock.is_offered() else ():
            with self.subTest(version=version):
                self.assertFalse(_own_name_is_writable(version))

    def test_does_nothing_where_moves_between_folders_cannot_be_allowed(self) -> None:
        for version in (-1, 0, 1):
            with self.subTest(version=version):
                self.assertTrue(_own_name_is_writable(version))
