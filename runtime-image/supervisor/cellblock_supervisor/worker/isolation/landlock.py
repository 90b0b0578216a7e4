"""Restricts the worker's writes to its folders, whatever owners and modes allow, where the host's kernel has Landlock.

Beyond modes and read-only mounts it protects /proc: a process owns its files there and could lower its OOM score. It needs no privilege,
survives exec and cannot be removed. Rights and their numbers are those of include/uapi/linux/landlock.h.
"""

import ctypes
import os
import struct

from ...config import WORKER_FOLDERS

# /dev for its devices and terminals.
_FOLDERS = (*WORKER_FOLDERS, "/dev")

# The same numbers on every architecture.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION, _PATH_BENEATH = 1, 1

_WRITE_FILE, _REFER, _TRUNCATE = 1 << 1, 1 << 13, 1 << 14
# From removing a folder to making a symbolic link.
_REMOVE_AND_MAKE = sum(1 << bit for bit in range(4, 13))
_CHANGES = _WRITE_FILE | _REMOVE_AND_MAKE | _REFER
# The first version could not allow a move between two folders; the third can forbid truncation by name as well.
_LEAST_VERSION, _VERSION_OF_TRUNCATE = 2, 3

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def is_offered() -> bool:
    """False on kernels before 5.19, without Landlock, and where the engine's own filter refuses it."""
    return _version() >= _LEAST_VERSION


def confine_writes() -> None:
    """Irreversible, for the calling thread and all its future children; after no_new_privs. Does nothing where it is not offered.

    Raises OSError.
    """
    version = _version()
    if version < _LEAST_VERSION:
        return
    changes = _CHANGES | (_TRUNCATE if version >= _VERSION_OF_TRUNCATE else 0)
    handled = struct.pack("Q", changes)
    ruleset = _call(_CREATE_RULESET, handled, ctypes.c_size_t(len(handled)), 0)
    try:
        for folder in _FOLDERS:
            _allow(ruleset, folder, changes)
        _call(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _allow(ruleset: int, folder: str, changes: int) -> None:
    try:
        fd = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    except FileNotFoundError:
        return
    try:
        _call(_ADD_RULE, ruleset, _PATH_BENEATH, struct.pack("=Qi", changes, fd), 0)
    finally:
        os.close(fd)


def _version() -> int:
    """Negative where Landlock is missing."""
    return int(_libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _ASK_VERSION))


def _call(number: int, *arguments: object) -> int:
    answer = int(_libc.syscall(number, *arguments))
    if answer < 0:
        raise OSError(ctypes.get_errno(), f"Landlock: {os.strerror(ctypes.get_errno())}")
    return answer
