"""The start-up self-test: what the worker can do is tried by a probe, what surrounds it is looked at here, by profile."""

import asyncio
import json
import os
from collections.abc import Callable

from .config import DATA_DIR, Config
from .execution.cgroup import Cgroup
from .execution.kernel_host import KernelHost

PATIENCE_SECONDS = 10.0
_CAP_SETGID, _CAP_SETUID, _CAP_KILL = 6, 7, 5
_OWN_CAPABILITIES = (1 << _CAP_SETGID) | (1 << _CAP_SETUID) | (1 << _CAP_KILL)
# The set Fargate grants and refuses to shrink completely is Docker's default; these two would void the two-UID wall.
_FORBIDDEN_ON_FARGATE = (1 << 21) | (1 << 19)


async def test(config: Config, kernel: KernelHost) -> list[str]:
    """Names of the walls that do not hold; empty when the sandbox may take work. Raises OSError without a probe."""
    fallen = await _probe(kernel)
    for wall, profiles in SURROUNDINGS.items():
        if config.profile not in profiles:
            continue
        try:
            holds = wall(config)
        except OSError:
            holds = False
        if not holds:
            fallen.append(wall.__name__)
    # An emulator starts sandboxes without the options that make these hold; everything inside the worker still must.
    excused = _EXCUSED.get(config.profile, frozenset())
    return [name for name in fallen if name not in excused]


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
        async with asyncio.timeout(PATIENCE_SECONDS):
            await readable
        answer = json.loads(os.read(read_end, 64 * 1024) or b'["the_worker_could_not_be_made"]')
        return [str(name) for name in answer]
    except TimeoutError:
        return ["the_probe_did_not_answer"]
    finally:
        loop.remove_reader(read_end)
        os.close(read_end)


def supervisor_is_process_1(_config: Config) -> bool:
    return os.getpid() == 1


def supervisor_has_only_its_capabilities(_config: Config) -> bool:
    status = _status()
    return int(status["CapPrm"], 16) == _OWN_CAPABILITIES and int(status["CapBnd"], 16) == _OWN_CAPABILITIES


def capabilities_are_not_dangerous(_config: Config) -> bool:
    return int(_status()["CapBnd"], 16) & _FORBIDDEN_ON_FARGATE == 0


def no_new_privileges_is_set(_config: Config) -> bool:
    return _status()["NoNewPrivs"] == "1"


def engine_seccomp_is_on(_config: Config) -> bool:
    return _status()["Seccomp"] == "2"


def root_file_system_is_read_only(_config: Config) -> bool:
    return bool(os.statvfs("/").f_flag & os.ST_RDONLY)


def kernel_interfaces_are_closed(_config: Config) -> bool:
    """The engine's own cover over /proc: its settings are read-only, and the kernel's memory does not show."""
    if not os.statvfs("/proc/sys").f_flag & os.ST_RDONLY:
        return False
    try:
        with open("/proc/kcore", "rb") as file:
            return not file.read(1)
    except OSError:
        return True


def control_group_is_hidden(_config: Config) -> bool:
    """Its path on the host names the container, and with it the engine that runs it."""
    with open("/proc/self/cgroup", encoding="ascii", errors="replace") as file:
        return all(line.rstrip().endswith(":/") for line in file)


def only_loopback_exists(_config: Config) -> bool:
    """Any other interface would be a network: the sandbox is started with none."""
    return set(os.listdir("/sys/class/net")) <= {
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


def writable_places_are_sized(_config: Config) -> bool:
    """Every place the worker can write to is a mount of its own with a limit far below the memory of a host."""
    root = os.stat("/").st_dev
    for place in (DATA_DIR, "/tmp", "/dev/shm"):
        status = os.statvfs(place)
        if os.stat(place).st_dev == root or status.f_blocks == 0 or status.f_blocks * status.f_frsize > _memory_of_host():
            return False
    return True


def memory_is_limited(_config: Config) -> bool:
    return Cgroup().memory_limit() is not None


def processes_are_limited(_config: Config) -> bool:
    return Cgroup().pids_limit() is not None


SURROUNDINGS: dict[Callable[[Config], bool], frozenset[str]] = {
    supervisor_is_process_1: frozenset(("docker",)),
    supervisor_has_only_its_capabilities: frozenset(("docker",)),
    capabilities_are_not_dangerous: frozenset(("fargate",)),
    no_new_privileges_is_set: frozenset(("docker",)),
    engine_seccomp_is_on: frozenset(("docker",)),
    root_file_system_is_read_only: frozenset(("docker", "fargate")),
    kernel_interfaces_are_closed: frozenset(("docker",)),
    control_group_is_hidden: frozenset(("docker",)),
    only_loopback_exists: frozenset(("docker",)),
    writable_places_are_sized: frozenset(("docker",)),
    memory_is_limited: frozenset(("docker", "fargate")),
    processes_are_limited: frozenset(("docker",)),
}

_EXCUSED: dict[str, frozenset[str]] = {"emulated": frozenset(("devices_are_harmless", "engine_socket_is_absent"))}


def _status() -> dict[str, str]:
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        return {name: value.strip() for name, _, value in (line.partition(":") for line in file)}


def _memory_of_host() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
