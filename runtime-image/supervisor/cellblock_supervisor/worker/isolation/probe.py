"""Tries as a worker everything that must fail and reports what succeeded. Runs once, at start."""

import grp
import json
import os
import pwd
import socket
from collections.abc import Callable, Iterator

from ...config import DATA_DIR, INSTALL_DIR, RUN_DIR, WORKER_GID, WORKER_UID
from . import landlock
from .system_call_checks import (
    dangerous_calls_are_refused,
    foreign_architectures_are_refused,
    libc,
    namespaces_are_refused,
    no_other_socket_opens,
    own_filters_are_refused,
    seccomp_filter_is_permanent,
    unix_socket_opens,
)

# gVisor shows no ambient capabilities.
_NO_CAPABILITY = "0000000000000000"
_PR_GET_SECCOMP, _PR_GET_NO_NEW_PRIVS = 21, 39
_FOREIGN_FOLDERS = (
    "/",
    "/usr/bin",
    "/usr/lib",
    "/usr/local/bin",
    "/etc",
    "/root",
    "/opt",
    INSTALL_DIR,
    "/run",
    RUN_DIR,
    "/var/lib",
    "/proc/sys/kernel",
    "/sys",
)
_SECRET_NAME_PARTS = ("AWS_", "ECS_", "SECRET", "TOKEN", "PASSWORD", "CREDENTIAL", "API_KEY", "PRIVATE_KEY", "CELLBLOCK_")


def supervisor_memory_is_closed() -> bool:
    return not _reads_of_supervisor(("mem",), ("root", "cwd"))


def supervisor_details_are_closed() -> bool:
    return not _reads_of_supervisor(("environ", "maps", "auxv", "stack", "syscall"), ("exe", "fd/0", "fd/3"))


def _reads_of_supervisor(files: tuple[str, ...], links: tuple[str, ...]) -> bool:
    """True when any of these files or links of the processes above can be read."""
    for pid in {1, os.getppid()}:
        for name in files:
            try:
                with open(f"/proc/{pid}/{name}", "rb") as file:
                    if file.read(1):
                        return True
            except OSError:
                continue
        for name in links:
            try:
                os.readlink(f"/proc/{pid}/{name}")
                return True
            except OSError:
                continue
    return False


def supervisor_cannot_be_signalled() -> bool:
    for pid in (1, os.getppid()):
        try:
            os.kill(pid, 0)
            return False
        except OSError:
            continue
    return True


def only_worker_folders_are_writable() -> bool:
    for folder in _FOREIGN_FOLDERS:
        name = f"{folder.rstrip('/')}/.cellblock-probe"
        try:
            os.close(os.open(name, os.O_CREAT | os.O_WRONLY | os.O_EXCL))
            os.unlink(name)
            return False
        except OSError:
            continue
    return True


def oom_score_is_fixed() -> bool:
    """Where Landlock is available, code cannot lower its own OOM score."""
    if not landlock.is_offered():
        return True
    try:
        os.close(os.open("/proc/self/oom_score_adj", os.O_WRONLY))
    except PermissionError:
        return True
    return False


def data_folder_is_writable() -> bool:
    name = f"{DATA_DIR}/.cellblock-upload-probe"
    try:
        os.close(os.open(name, os.O_CREAT | os.O_WRONLY, 0o600))
        os.unlink(name)
    except OSError:
        return False
    return True


def control_socket_is_unreachable() -> bool:
    try:
        os.listdir(RUN_DIR)
        return False
    except OSError:
        pass
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        try:
            client.connect(f"{RUN_DIR}/control/supervisor.sock")
            return False
        except OSError:
            pass
    try:
        with open("/proc/net/unix", encoding="ascii", errors="replace") as file:
            return not any(line.split()[-1].startswith("@") for line in file)
    except OSError:
        return True


def environment_holds_no_secret() -> bool:
    try:
        with open("/proc/self/environ", "rb") as file:
            text = file.read().decode("utf-8", "replace")
    except OSError:
        text = ""
    names = [entry.partition("=")[0] for entry in text.split("\0")] + list(os.environ)
    return not any(mark in name.upper() for name in names for mark in _SECRET_NAME_PARTS)


def no_privilege_is_left() -> bool:
    status = dict(_status_lines())
    return (
        status.get("CapEff") == status.get("CapPrm") == status.get("CapAmb", _NO_CAPABILITY) == _NO_CAPABILITY
        and status.get("Uid", "").split() == [str(WORKER_UID)] * 4
        and status.get("Gid", "").split() == [str(WORKER_GID)] * 4
        and status.get("Groups", "") == ""
        and libc.prctl(_PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1
        and libc.prctl(_PR_GET_SECCOMP, 0, 0, 0, 0) == 2
    )


def root_cannot_be_regained() -> bool:
    for attempt in (lambda: os.setuid(0), lambda: os.setgid(0), lambda: os.setresuid(-1, 0, -1), lambda: os.setgroups([0])):
        try:
            attempt()
            return False
        except OSError:
            continue
    return os.getresuid() == (WORKER_UID,) * 3


def engine_socket_is_absent() -> bool:
    return not any(
        os.path.exists(path) for path in ("/var/run/docker.sock", "/run/docker.sock", "/run/containerd/containerd.sock")
    )


def terminals_are_closed() -> bool:
    """All containers of a host share one quota of pseudo-terminals."""
    try:
        os.close(os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY))
        return False
    except OSError:
        return True


def worker_has_a_name() -> bool:
    try:
        return pwd.getpwuid(WORKER_UID).pw_name == grp.getgrgid(WORKER_GID).gr_name == "worker"
    except KeyError:
        return False


def devices_are_harmless() -> bool:
    """No disk, kernel memory or user-mode driver can be opened."""
    for name in ("mem", "kmem", "port", "kvm", "fuse", "net/tun", "vsock", "sda", "vda", "nvme0n1", "loop-control", "kmsg"):
        try:
            os.close(os.open(f"/dev/{name}", os.O_RDONLY | os.O_NONBLOCK))
            return False
        except OSError:
            continue
    return True


CHECKS: tuple[Callable[[], bool], ...] = (
    unix_socket_opens,
    no_other_socket_opens,
    dangerous_calls_are_refused,
    namespaces_are_refused,
    supervisor_memory_is_closed,
    supervisor_details_are_closed,
    supervisor_cannot_be_signalled,
    only_worker_folders_are_writable,
    oom_score_is_fixed,
    data_folder_is_writable,
    control_socket_is_unreachable,
    environment_holds_no_secret,
    no_privilege_is_left,
    root_cannot_be_regained,
    engine_socket_is_absent,
    foreign_architectures_are_refused,
    own_filters_are_refused,
    terminals_are_closed,
    worker_has_a_name,
    devices_are_harmless,
    seccomp_filter_is_permanent,
)


def _status_lines() -> Iterator[tuple[str, str]]:
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        for line in file:
            name, _, value = line.partition(":")
            yield name, value.strip()


def main(result_fd: int) -> None:
    """Writes the names of the failed checks as a JSON list."""
    failed: list[str] = []
    for check in CHECKS:
        try:
            passed = check()
        except Exception:
            passed = False
        if not passed:
            failed.append(check.__name__)
    os.write(result_fd, json.dumps(failed).encode())
    os._exit(0)
