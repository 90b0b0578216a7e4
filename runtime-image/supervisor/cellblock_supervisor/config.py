"""The configuration of a sandbox. The only module that reads the supervisor's environment."""

import base64
import binascii
import json
import os
from typing import NamedTuple

PROFILES = ("docker", "gvisor", "fargate", "emulated")
DATA_DIR = "/mnt/data"
# Folders that the control port writes and the worker only reads.
SKILLS_DIR = "/mnt/skills"
HOME_DIR = "/home/worker"
# Packages that code installs from the wheelhouse, as `pip install --user` does.
PACKAGES_DIR = "/tmp/.packages"
# Definitions of the notebook for processes that it spawns.
SPAWNED_DIR = "/tmp/.spawned"
# Read-only wheels of the operator; missing where there is no wheelhouse.
WHEELHOUSE_DIR = "/opt/wheels"
# Everything that the worker may write to, except devices.
WORKER_FOLDERS = (DATA_DIR, HOME_DIR, "/tmp", "/dev/shm", "/run/worker")
RUN_DIR = "/run/cellblock"
# The supervisor's, for what a policy of the network brings; the worker reads it.
NETWORK_DIR = "/run/network"
INSTALL_DIR = "/opt/cellblock"
# Holds /etc/passwd and /etc/group, which are links. Mounted where the worker has another UID than the image's.
IDENTITY_DIR = "/run/identity"
DEFAULT_WORKER_UID = 10001
# UID of the files helper, so that the worker cannot signal or trace it. Only its file-system UID is the worker's.
HELPER_UID = 10002
# The kernel counts resources (inotify instances, pending signals, keys) per UID of the host: sandboxes that share a host need different ones.
WORKER_UID_RANGE = range(20_000, 60_000)
# Nice value of processes that run code of a tenant; the supervisor has 0 (docs/adr/0032-runaway-processes.md).
WORKER_PRIORITY = 5

def _read_worker_uid(text: str) -> int | None:
    """None for a UID that is not allowed."""
    if not text.isascii() or not text.isdigit():
        return None
    uid = int(text)
    return uid if uid == DEFAULT_WORKER_UID or uid in WORKER_UID_RANGE else None


# UID and GID of the worker are equal.
WORKER_UID = WORKER_GID = _read_worker_uid(os.environ.get("CELLBLOCK_WORKER_UID", "")) or DEFAULT_WORKER_UID

# gVisor lacks some system calls; the parts that need another way ask for it by this.
IS_GVISOR = os.environ.get("CELLBLOCK_PROFILE") == "gvisor"

EXIT_REFUSED = 86
EXIT_NO_KERNEL = 87
EXIT_BAD_CONFIG = 88

# ECS kills a task 120 s after SIGTERM; the supervisor ends before that.
MAX_STOP_SECONDS = 115

DEFAULT_PRELOAD = ("numpy", "pandas", "matplotlib.pyplot")


class ConfigError(Exception):
    """The environment does not describe a sandbox. The message says which variable to set and how."""


class Limits(NamedTuple):
    """Sizes in bytes. `None` leaves a limit to the container around the sandbox.

    `memory_bytes` and `processes` apply only where the container has no such limit: the engine may raise its limit later.
    """

    memory_bytes: int | None = None
    processes: int = 256
    open_files: int = 1024
    file_bytes: int | None = None
    max_output_bytes: int | None = None
    preload: tuple[str, ...] = DEFAULT_PRELOAD


class Config(NamedTuple):
    sandbox_id: str
    public_key: bytes
    listen: str
    profile: str
    limits: Limits = Limits()
    # How long SIGTERM waits for a client that saves the state, seconds; 0 where only this project sends it.
    stop_seconds: int = 0


def load_config(environ: dict[str, str] | os._Environ[str] = os.environ) -> Config:
    """Reads and checks every variable of the protocol; raises ConfigError."""
    profile = environ.get("CELLBLOCK_PROFILE", "docker")
    if profile not in PROFILES:
        raise ConfigError(f"CELLBLOCK_PROFILE must be one of {', '.join(PROFILES)}")
    listen = _required(environ, "CELLBLOCK_LISTEN")
    if not listen.startswith(("unix:/", "tcp:")):
        raise ConfigError("CELLBLOCK_LISTEN must be unix:/path or tcp:host:port")
    if listen.startswith("tcp:") and not listen.rpartition(":")[2].isdigit():
        raise ConfigError("CELLBLOCK_LISTEN must end in a port number, as in tcp:0.0.0.0:8700")
    uid = environ.get("CELLBLOCK_WORKER_UID")
    if uid is not None and _read_worker_uid(uid) is None:
        first, last = WORKER_UID_RANGE[0], WORKER_UID_RANGE[-1]
        raise ConfigError(f"CELLBLOCK_WORKER_UID must be {DEFAULT_WORKER_UID} or between {first} and {last}")
    return Config(
        sandbox_id=_required(environ, "CELLBLOCK_SANDBOX_ID"),
        public_key=_public_key(_required(environ, "CELLBLOCK_PUBLIC_KEY")),
        listen=listen,
        profile=profile,
        limits=_limits(environ.get("CELLBLOCK_LIMITS", "{}")),
        stop_seconds=_stop_seconds(environ.get("CELLBLOCK_STOP_SECONDS", "0")),
    )


def with_identity(config: Config, text: bytes) -> Config:
    """The configuration of a copy: another name and key, and everything else of its source. Raises ConfigError."""
    try:
        given = json.loads(text)
        return config._replace(sandbox_id=str(given["sandbox_id"]), public_key=_public_key(str(given["public_key"])))
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError("the identity of a copy must have sandbox_id and public_key") from error


def _required(environ: dict[str, str] | os._Environ[str], name: str) -> str:
    value = environ.get(name, "")
    if not value:
        raise ConfigError(f"{name} is not set")
    return value


def _public_key(text: str) -> bytes:
    try:
        key = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (binascii.Error, ValueError) as error:
        raise ConfigError("CELLBLOCK_PUBLIC_KEY is not base64url") from error
    if len(key) != 32:
        raise ConfigError("CELLBLOCK_PUBLIC_KEY must hold 32 bytes")
    return key


def _stop_seconds(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 3 or int(text) > MAX_STOP_SECONDS:
        raise ConfigError(f"CELLBLOCK_STOP_SECONDS must be a number from 0 to {MAX_STOP_SECONDS}")
    return int(text)


def _limits(text: str) -> Limits:
    try:
        given = json.loads(text)
    except ValueError as error:
        raise ConfigError("CELLBLOCK_LIMITS is not JSON") from error
    if not isinstance(given, dict):
        raise ConfigError("CELLBLOCK_LIMITS must be a JSON object")
    known = Limits._fields
    values: dict[str, object] = {}
    for name, value in given.items():
        if name not in known:
            raise ConfigError(f"CELLBLOCK_LIMITS has no limit called {name!r}")
        if value is None:
            continue
        if name == "preload":
            if not isinstance(value, list) or not all(isinstance(module, str) and module for module in value):
                raise ConfigError("CELLBLOCK_LIMITS.preload must be a list of module names")
            values[name] = tuple(value)
        elif isinstance(value, bool) or not isinstance(value, int) or value <= 0:
            raise ConfigError(f"CELLBLOCK_LIMITS.{name} must be a positive integer")
        else:
            values[name] = value
    return Limits(**values)  # type: ignore[arg-type]
