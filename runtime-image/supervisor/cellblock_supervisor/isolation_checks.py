"""The self-test at start: a probe process tries what a worker must not be able to do; this module checks the container around it, by profile."""

import asyncio
import ctypes
import errno
import json
import os
import socket
from collections.abc import Callable

from .cgroup import Cgroup
from .config import DATA_DIR, Config
from .execution.kernel_host import KernelHost

PROBE_TIMEOUT_SECONDS = 10.0
_CAP_SETGID, _CAP_SETUID, _CAP_KILL = 6, 7, 5
_PR_GET_NO_NEW_PRIVS = 39
_OWN_CAPABILITIES = (1 << _CAP_SETGID) | (1 << _CAP_SETUID) | (1 << _CAP_KILL)
# SYS_ADMIN and SYS_PTRACE would void the separation of the two UIDs. Fargate grants Docker's default set and drops by name only.
_DANGEROUS_CAPABILITIES = (1 << 21) | (1 << 19)


async def run_checks(config: Config, kernel: KernelHost) -> list[str]:
    """Names of the failed checks; empty when the sandbox may take work. Raises OSError when the probe cannot be started."""
    failed = await _probe(kernel)
    for check, profiles in ENVIRONMENT_CHECKS.items():
        if config.profile not in profiles:
            continue
        try:
            passed = check(config)
        except (OSError, KeyError):
            passed = False
        if not passed:
            failed.append(check.__name__)
    # An emulator starts containers without the options that these checks need. Every check of the worker itself still applies.
    excused = _EXCUSED_BY_PROFILE.get(config.profile, frozenset())
    return [name for name in failed if name not in excused]


async def _probe(kernel: KernelHost) -> list[str]:
    read_end, write_end = os.pipe2(os.O_CLOEXEC)
    os.set_blocking(read_end, False)
    loop = asyncio.get_running_loop()
    readable: asyncio.Future[None] = loop.create_future()
    try:
        try:
            await kernel.zygote.fork("probe", kernel.rlimits(), [write_end])
        finally:
            os.close(write_end)
        loop.add_reader(read_end, lambda: readable.done() or readable.set_result(None))
        async with asyncio.timeout(PROBE_TIMEOUT_SECONDS):
            await readable
        answer = json.loads(os.read(read_end, 64 * 1024) or b'["worker_could_not_be_created"]')
        return [str(name) for name in answer]
    except TimeoutError:
        return ["probe_timed_out"]
    finally:
        loop.remove_reader(read_end)
        os.close(read_end)


def supervisor_is_process_1(_config: Config) -> bool:
    return os.getpid() == 1


def supervisor_has_only_its_capabilities(_config: Config) -> bool:
    status = _status()
    return int(status["CapPrm"], 16) == _OWN_CAPABILITIES and int(status["CapBnd"], 16) == _OWN_CAPABILITIES


def capabilities_are_not_dangerous(_config: Config) -> bool:
    return int(_status()["CapBnd"], 16) & _DANGEROUS_CAPABILITIES == 0


def no_new_privileges_is_set(_config: Config) -> bool:
    # Not from /proc/self/status: gVisor does not show it there.
    return ctypes.CDLL(None).prctl(_PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1


def engine_seccomp_is_on(_config: Config) -> bool:
    return _status()["Seccomp"] == "2"


def root_file_system_is_read_only(_config: Config) -> bool:
    # An attempt, because gVisor does not show the flag.
    try:
        os.close(os.open("/.cellblock-probe", os.O_CREAT | os.O_WRONLY | os.O_EXCL))
    except OSError as error:
        return error.errno == errno.EROFS
    os.unlink("/.cellblock-probe")
    return False


def kernel_interfaces_are_closed(_config: Config) -> bool:
    """The engine masks /proc: kernel settings are read-only and kernel memory is hidden."""
    if not os.statvfs("/proc/sys").f_flag & os.ST_RDONLY:
        return False
    try:
        with open("/proc/kcore", "rb") as file:
            return not file.read(1)
    except OSError:
        return True


def control_group_is_hidden(_config: Config) -> bool:
    """The path on the host would disclose the container id and the engine."""
    with open("/proc/self/cgroup", encoding="ascii", errors="replace") as file:
        return all(line.rstrip().endswith(":/") for line in file)


def only_loopback_exists(_config: Config) -> bool:
    """The sandbox runs without a network. The other names are tunnel devices that the kernel creates in every network namespace."""
    return _network_devices() <= {
        "lo",
        "tunl0",
        "sit0",
        "ip6tnl0",
        "gre0",
        "gretap0",
        "erspan0",
        "ip_vti0",
        "ip6_vti0",
        "ip6gre0",
    }


def _network_devices() -> set[str]:
    try:
        return set(os.listdir("/sys/class/net"))
    except FileNotFoundError:
        # gVisor without a network has no such folder; its devices are those that the sandbox's kernel lists.
        return {name for _, name in socket.if_nameindex()}


def writable_mounts_are_sized(_config: Config) -> bool:
    """Every folder that the worker can write to is a separate mount whose size limit is far below the host's memory."""
    root = os.stat("/").st_dev
    for folder in (DATA_DIR, "/tmp", "/dev/shm"):
        status = os.statvfs(folder)
        if os.stat(folder).st_dev == root or status.f_blocks == 0 or status.f_blocks * status.f_frsize > _half_of_host_memory():
            return False
    return True


def memory_is_limited(config: Config) -> bool:
    """By the cgroup, or else by the supervisor, which needs a limit and the cgroup's usage for that.

    A Fargate container without its own limit has none in its cgroup: only its task has one.
    """
    cgroup = Cgroup()
    if cgroup.memory_limit() is not None:
        return True
    return config.profile != "docker" and config.limits.memory_bytes is not None and cgroup.memory_in_use() is not None


def processes_are_limited(_config: Config) -> bool:
    return Cgroup().pids_limit() is not None


ENVIRONMENT_CHECKS: dict[Callable[[Config], bool], frozenset[str]] = {
    supervisor_is_process_1: frozenset(("docker", "gvisor")),
    supervisor_has_only_its_capabilities: frozenset(("docker", "gvisor")),
    capabilities_are_not_dangerous: frozenset(("fargate",)),
    no_new_privileges_is_set: frozenset(("docker", "gvisor")),
    engine_seccomp_is_on: frozenset(("docker",)),
    root_file_system_is_read_only: frozenset(("docker", "gvisor", "fargate")),
    kernel_interfaces_are_closed: frozenset(("docker",)),
    control_group_is_hidden: frozenset(("docker",)),
    only_loopback_exists: frozenset(("docker", "gvisor")),
    writable_mounts_are_sized: frozenset(("docker", "gvisor")),
    memory_is_limited: frozenset(("docker", "fargate", "emulated")),
    processes_are_limited: frozenset(("docker",)),
}

# Under gVisor the checks without its profile have no counterpart: the container's seccomp filter, masked paths and control group apply to gVisor's
# process on the host, and the sandbox sees none of them.
# Two checks of the worker are excused there: gVisor shows the environment and the mappings of other users' processes, but not their memory, and its
# /dev/fuse and /dev/net/tun are its own, not the host's.
_EXCUSED_BY_PROFILE: dict[str, frozenset[str]] = {
    "emulated": frozenset(("devices_are_harmless", "engine_socket_is_absent")),
    "gvisor": frozenset(("devices_are_harmless", "supervisor_details_are_closed")),
}


def _status() -> dict[str, str]:
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        return {name: value.strip() for name, _, value in (line.partition(":") for line in file)}


def _half_of_host_memory() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
