"""The memory limit of cgroups version 1 and 2, and its enforcement by the supervisor where there is none."""

import os
import tempfile
import unittest
from unittest import mock

from cellblock_supervisor import cgroup as cgroup_module
from cellblock_supervisor import isolation_checks
from cellblock_supervisor.cgroup import Cgroup, TmpfsUsage
from cellblock_supervisor.config import Config, Limits
from cellblock_supervisor.execution.kernel_host import KernelHost
from cellblock_supervisor.execution.memory_monitor import RESERVE_BYTES, MemoryMonitor

GIB = 1 << 30
V1_UNLIMITED = {
    "memory/memory.limit_in_bytes": "9223372036854771712\n",
    "memory/memory.usage_in_bytes": "104857600\n",
    "memory/memory.stat": "total_inactive_file 4096\ntotal_rss 1000\n",
}
V2_UNLIMITED = {
    "cgroup.controllers": "cpu memory pids\n",
    "memory.max": "max\n",
    "memory.current": "104857600\n",
    "memory.stat": "anon 1000\ninactive_file 4096\n",
}
V1_LIMITED = {**V1_UNLIMITED, "memory/memory.limit_in_bytes": f"{GIB}\n"}
V2_LIMITED = {**V2_UNLIMITED, "memory.max": f"{GIB}\n"}


def config(profile: str, memory_bytes: int | None) -> Config:
    return Config("sbx_1", b"", "tcp:0.0.0.0:8700", profile, Limits(memory_bytes=memory_bytes))


class Fixtures(unittest.TestCase):
    def cgroup(self, files: dict[str, str]) -> Cgroup:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for name, text in files.items():
            path = os.path.join(folder.name, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="ascii") as file:
                file.write(text)
        cgroup = Cgroup(folder.name)
        # The mounts of the container that runs this test do not matter.
        cgroup._tmpfs_bytes = 0
        return cgroup

    def is_accepted(self, files: dict[str, str], profile: str, memory_bytes: int | None) -> bool:
        with mock.patch.object(isolation_checks, "Cgroup", lambda: self.cgroup(files)):
            return isolation_checks.memory_is_limited(config(profile, memory_bytes))

    def test_reads_the_limit_of_both_versions_and_what_they_show_without_one(self) -> None:
        limits = [self.cgroup(files).memory_limit() for files in (V1_LIMITED, V2_LIMITED, V1_UNLIMITED, V2_UNLIMITED, {})]
        self.assertEqual(limits, [GIB, GIB, None, None, None])

    def test_accepts_a_limit_of_the_cgroup_under_every_profile(self) -> None:
        for profile in ("docker", "fargate", "emulated"):
            for files in (V1_LIMITED, V2_LIMITED):
                self.assertTrue(self.is_accepted(files, profile, None))

    def test_without_one_needs_a_limit_to_enforce_and_the_usage(self) -> None:
        for profile in ("fargate", "emulated"):
            for files in (V1_UNLIMITED, V2_UNLIMITED):
                self.assertTrue(self.is_accepted(files, profile, GIB))
                self.assertFalse(self.is_accepted(files, profile, None))
            self.assertFalse(self.is_accepted({}, profile, GIB))

    def test_in_docker_needs_a_limit_of_the_cgroup(self) -> None:
        for files in (V1_UNLIMITED, V2_UNLIMITED):
            self.assertFalse(self.is_accepted(files, "docker", GIB))

    def test_the_monitor_acts_at_the_configured_limit_where_the_cgroup_has_none(self) -> None:
        for files in (V1_UNLIMITED, V2_UNLIMITED):
            for limit, is_full in ((104857600 + RESERVE_BYTES, False), (104857600 + RESERVE_BYTES - 8192, True)):
                acts: list[bool] = []
                MemoryMonitor(self.cgroup(files), limit, lambda acts=acts: acts.append(True)).check()  # type: ignore[misc]
                self.assertEqual(bool(acts), is_full)

    def test_counts_shared_memory_that_is_in_no_sized_folder(self) -> None:
        v1 = {**V1_LIMITED, "memory/memory.stat": "shmem 1\ntotal_rss 1000\ntotal_shmem 5000\n"}
        v2 = {**V2_LIMITED, "memory.stat": "anon 1000\nshmem 5000\n"}
        for files in (v1, v2):
            # A file of 3000 bytes is removed between both readings, or written.
            for readings in ((4000, 1000), (1000, 4000)):
                usages = [TmpfsUsage(9000, used) for used in readings]
                with mock.patch.object(cgroup_module, "tmpfs_usage", side_effect=usages):
                    self.assertEqual(self.cgroup(files).process_memory(), 2000)


class Rlimits(unittest.IsolatedAsyncioTestCase):
    async def test_each_process_is_limited_only_where_the_cgroup_is_not(self) -> None:
        fixtures = Fixtures()
        self.addCleanup(fixtures.doCleanups)
        for files, expected in ((V2_UNLIMITED, GIB), (V1_UNLIMITED, GIB), (V2_LIMITED, None)):
            host = KernelHost(Limits(memory_bytes=GIB), fixtures.cgroup(files), lambda _reason: None)
            self.assertEqual(host.rlimits()["memory_bytes"], expected)


if __name__ == "__main__":
    unittest.main()
