"""What the probe tries with system calls: sockets, refused calls, filters."""

import ctypes
import errno
import platform
import socket
import struct

from . import syscall_table as table

_FAMILIES = 48
_SO_ATTACH_FILTER = 26
_TYPES = (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, 4, socket.SOCK_SEQPACKET)

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


def _call(number: int, *arguments: object) -> int:
    """0 when the call succeeded, otherwise its errno."""
    return 0 if libc.syscall(ctypes.c_long(number), *arguments) >= 0 else ctypes.get_errno()


def _numbers(of: table.Numbers) -> int | None:
    return of.x86_64 if platform.machine() == "x86_64" else of.aarch64


def unix_socket_opens() -> bool:
    """The positive control: a probe that cannot open any socket would pass every other check."""
    try:
        for end in socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM):
            end.close()
        socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).close()
    except OSError:
        return False
    return True


def no_other_socket_opens() -> bool:
    calls = (_numbers(table.SOCKET), _numbers(table.SOCKETPAIR))
    pair = (ctypes.c_int * 2)()
    for family in range(_FAMILIES):
        if family == socket.AF_UNIX:
            continue
        for kind in _TYPES:
            for call in calls:
                if call is not None and _call(call, family, kind, 0, ctypes.byref(pair)) != errno.ENETUNREACH:
                    return False
        if _call(calls[0] or 0, ctypes.c_ulong((1 << 32) | family), 1, 0) == 0:
            return False
    return True


def dangerous_calls_are_refused() -> bool:
    """Every call of the table, with arguments that no implementation accepts: the errno shows whether the filter answered."""
    bad = ctypes.c_long(-1)
    for calls, answer in ((table.ABSENT, errno.ENOSYS), (table.REFUSED, errno.EPERM)):
        for of in calls.values():
            number = _numbers(of)
            if number is not None and _call(number, bad, bad, bad, bad, bad, bad) != answer:
                return False
    return True


def namespaces_are_refused() -> bool:
    clone = _numbers(table.CLONE) or 0
    # The user namespace flag with a combination that clone() rejects, so that no child can be created.
    return _call(clone, ctypes.c_ulong(0x1000_0000 | 0x0001_0000), 0, 0, 0, 0) == errno.EPERM


def foreign_architectures_are_refused() -> bool:
    """x32 numbers on x86-64 (int 0x80 cannot be reached from here without machine code)."""
    if platform.machine() != "x86_64":
        return True
    return _call(0x4000_0000 + 41, socket.AF_INET, socket.SOCK_STREAM, 0) == errno.ENOSYS


def seccomp_filter_is_permanent() -> bool:
    program = struct.pack("HBBI", 0x06, 0, 0, 0x7FFF_0000)
    block = ctypes.create_string_buffer(program, len(program))
    header = ctypes.create_string_buffer(struct.pack("HxxxxxxP", 1, ctypes.addressof(block)))
    libc.prctl(22, ctypes.c_ulong(2), header, 0, 0)
    libc.prctl(22, ctypes.c_ulong(0), None, 0, 0)
    return _call(_numbers(table.SOCKET) or 0, socket.AF_INET, socket.SOCK_STREAM, 0) == errno.ENETUNREACH


def own_filters_are_refused() -> bool:
    """Filters of sockets and processes are compiled into memory that all containers of a host share."""
    program = struct.pack("HBBI", 0x06, 0, 0, 0x7FFF_0000)
    block = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HxxxxxxP", 1, ctypes.addressof(block))
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        try:
            sock.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, header)
            return False
        except PermissionError:
            pass
    return libc.prctl(22, ctypes.c_ulong(2), ctypes.create_string_buffer(header), 0, 0) != 0
