"""Assembles the worker's seccomp filter: AF_UNIX is the only socket family, dangerous system calls are refused.

It needs no privilege, so it works on any container platform. It survives exec and cannot be removed.
"""

import ctypes
import errno
import functools
import os
import struct

from . import syscall_table as table
from .syscall_table import Numbers

_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32_BIT = 0x4000_0000
_AF_UNIX = 1
# Every CLONE_NEW* flag that clone() itself can carry.
_CLONE_NEW = 0x0002_0000 | 0x0200_0000 | 0x0400_0000 | 0x0800_0000 | 0x1000_0000 | 0x2000_0000 | 0x4000_0000

_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW = 0x7FFF_0000
_OFFSET_NUMBER, _OFFSET_ARCH, _OFFSET_FIRST_ARGUMENT, _OFFSET_SECOND_ARGUMENT, _OFFSET_THIRD_ARGUMENT = 0, 4, 16, 24, 32

_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _MODE_FILTER = 38, 22, 2
_SOL_SOCKET, _SO_ATTACH_FILTER, _SO_ATTACH_BPF, _SO_ATTACH_REUSEPORT_CBPF = 1, 26, 50, 51

_libc = ctypes.CDLL(None, use_errno=True)
_libc.prctl.argtypes = (ctypes.c_int, ctypes.c_ulong, ctypes.c_void_p, ctypes.c_ulong, ctypes.c_ulong)

Instruction = tuple[int, int, int, int]
_INSTRUCTION = struct.Struct("HBBI")


def _refuse(number: int) -> Instruction:
    return (_RETURN, 0, 0, 0x0005_0000 | number)


def program(machine: str) -> list[Instruction]:
    """The filter for `x86_64` or `aarch64` as (code, jump if true, jump if false, constant)."""
    if machine not in _AUDIT_ARCH:
        raise OSError(f"there is no seccomp filter for {machine}: use x86_64 or aarch64")

    def number(of: Numbers) -> int | None:
        return of.x86_64 if machine == "x86_64" else of.aarch64

    # Calls of other architectures (int 0x80, x32) have other numbers and would bypass the list, so none is allowed.
    lines: list[Instruction] = [
        (_LOAD, 0, 0, _OFFSET_ARCH),
        (_JUMP_EQUAL, 1, 0, _AUDIT_ARCH[machine]),
        _refuse(errno.ENOSYS),
        (_LOAD, 0, 0, _OFFSET_NUMBER),
    ]
    if machine == "x86_64":
        lines += [(_JUMP_AT_LEAST, 0, 1, _X32_BIT), _refuse(errno.ENOSYS)]
    for calls, answer in ((table.ABSENT, errno.ENOSYS), (table.REFUSED, errno.EPERM)):
        for of in calls.values():
            value = number(of)
            if value is not None:
                lines += [(_JUMP_EQUAL, 0, 1, value), _refuse(answer)]
    # The kernel reads family and flags as 32 bits, so only the low word of the argument is compared.
    for of in (table.SOCKET, table.SOCKETPAIR):
        lines += [
            (_JUMP_EQUAL, 0, 4, number(of) or 0),
            (_LOAD, 0, 0, _OFFSET_FIRST_ARGUMENT),
            (_JUMP_EQUAL, 1, 0, _AF_UNIX),
            _refuse(errno.ENETUNREACH),
            (_RETURN, 0, 0, _ALLOW),
        ]
    lines += [
        (_JUMP_EQUAL, 0, 4, number(table.CLONE) or 0),
        (_LOAD, 0, 0, _OFFSET_FIRST_ARGUMENT),
        (_JUMP_ANY_BIT, 0, 1, _CLONE_NEW),
        _refuse(errno.EPERM),
        (_RETURN, 0, 0, _ALLOW),
    ]
    # The kernel compiles filters of processes and sockets into memory that all containers of a host share (net.core.bpf_jit_limit). Where it is
    # used up, no other sandbox can start a kernel.
    lines += [
        (_JUMP_EQUAL, 0, 4, number(table.PRCTL) or 0),
        (_LOAD, 0, 0, _OFFSET_FIRST_ARGUMENT),
        (_JUMP_EQUAL, 0, 1, _PR_SET_SECCOMP),
        _refuse(errno.EINVAL),
        (_RETURN, 0, 0, _ALLOW),
        (_JUMP_EQUAL, 0, 8, number(table.SETSOCKOPT) or 0),
        (_LOAD, 0, 0, _OFFSET_SECOND_ARGUMENT),
        (_JUMP_EQUAL, 0, 5, _SOL_SOCKET),
        (_LOAD, 0, 0, _OFFSET_THIRD_ARGUMENT),
        (_JUMP_EQUAL, 2, 0, _SO_ATTACH_FILTER),
        (_JUMP_EQUAL, 1, 0, _SO_ATTACH_BPF),
        (_JUMP_EQUAL, 0, 1, _SO_ATTACH_REUSEPORT_CBPF),
        _refuse(errno.EPERM),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _ALLOW),
    ]
    return lines


@functools.cache
def filter_code() -> bytes:
    """The filter of this machine as an array of `struct sock_filter` (linux/filter.h). Raises OSError on other architectures."""
    return b"".join(_INSTRUCTION.pack(*line) for line in program(os.uname().machine))


def install() -> None:
    """Applies the filter to the calling thread and all its future children, irreversibly. Raises OSError."""
    code = filter_code()
    block = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("HxxxxxxP", len(code) // _INSTRUCTION.size, ctypes.addressof(block))
    if _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, None, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"no_new_privs: {os.strerror(ctypes.get_errno())}")
    if _libc.prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.create_string_buffer(header), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"seccomp filter: {os.strerror(ctypes.get_errno())}")
