"""The limit of private memory follows that of the cgroup."""

import os
import resource
import tempfile
import unittest
from unittest import mock

from cellblock_supervisor.cgroup import Cgroup
from cellblock_supervisor.worker.isolation import allocation_limit

GIB = 1024**3


class AllocationLimit(unittest.TestCase):
    def setUp(self) -> None:
        self.addCleanup(resource.setrlimit, resource.RLIMIT_DATA, resource.getrlimit(resource.RLIMIT_DATA))
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "memory.max")
        # The mark of version 2.
        open(os.path.join(folder.name, "cgroup.controllers"), "w").close()
        for name, value in (("Cgroup", lambda: Cgroup(folder.name)), ("_applied", 0)):
            patch = mock.patch.object(allocation_limit, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def limit_with(self, text: str) -> int:
        with open(self.path, "w", encoding="ascii") as file:
            file.write(text)
        allocation_limit.apply()
        return resource.getrlimit(resource.RLIMIT_DATA)[0]

    def test_follows_a_limit_that_is_raised(self) -> None:
        self.assertEqual([self.limit_with(f"{count * GIB}\n") for count in (1, 2)], [4 * GIB, 5 * GIB])

    def test_keeps_a_limit_of_the_code(self) -> None:
        self.limit_with(f"{GIB}\n")
        resource.setrlimit(resource.RLIMIT_DATA, (8 * GIB, resource.getrlimit(resource.RLIMIT_DATA)[1]))
        self.assertEqual(self.limit_with(f"{GIB}\n"), 8 * GIB)

    def test_sets_none_where_the_cgroup_has_none(self) -> None:
        before = resource.getrlimit(resource.RLIMIT_DATA)[0]
        self.assertEqual([self.limit_with(text) for text in ("max\n", "9223372036854771712\n")], [before, before])

    def test_refuses_an_allocation_far_beyond_the_memory(self) -> None:
        self.limit_with(f"{GIB}\n")
        with self.assertRaises(MemoryError):
            bytearray(6 * GIB)


if __name__ == "__main__":
    unittest.main()
