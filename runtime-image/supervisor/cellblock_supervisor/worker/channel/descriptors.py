"""Passes descriptors over a Unix socket by the system's own calls.

The loopback library replaces `recvmsg` and `sendmsg` for the whole process and puts its own data beside descriptors. The supervisor does not have it.
"""

import array
import ctypes
import errno
import os
import socket
import struct

_libc = ctypes.CDLL("libc.so.6", use_errno=True)


class _Part(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


class _Message(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_void_p),
        ("name_length", ctypes.c_uint32),
        ("parts", ctypes.POINTER(_Part)),
        ("part_count", ctypes.c_size_t),
        ("control", ctypes.c_void_p),
        ("control_length", ctypes.c_size_t),
        ("flags", ctypes.c_int),
    )


class _ControlHeader(ctypes.Structure):
    _fields_ = (("length", ctypes.c_size_t), ("level", ctypes.c_int), ("kind", ctypes.c_int))


_HEADER_BYTES = ctypes.sizeof(_ControlHeader)


def receive(sock: socket.socket, max_bytes: int, max_descriptors: int) -> tuple[bytes, list[int]]:
    """As `socket.recv_fds` on a blocking socket. Raises OSError."""
    data = ctypes.create_string_buffer(max_bytes)
    control = ctypes.create_string_buffer(socket.CMSG_SPACE(max_descriptors * 4))
    part = _Part(ctypes.addressof(data), max_bytes)
    message = _Message(None, 0, ctypes.pointer(part), 1, ctypes.addressof(control), len(control), 0)
    while (count := _libc.recvmsg(sock.fileno(), ctypes.byref(message), 0)) < 0:
        number = ctypes.get_errno()
        if number != errno.EINTR:
            raise OSError(number, os.strerror(number))
        message.control_length = len(control)
    found = array.array("i")
    if message.control_length >= _HEADER_BYTES:
        header = _ControlHeader.from_buffer(control)
        if header.level == socket.SOL_SOCKET and header.kind == socket.SCM_RIGHTS:
            body = control.raw[_HEADER_BYTES : header.length]
            found.frombytes(body[: len(body) - len(body) % found.itemsize])
    return data.raw[:count], list(found)


def send(sock: socket.socket, data: bytes, descriptor: int) -> None:
    """As `socket.send_fds` on a blocking socket, with one descriptor. Raises OSError."""
    control = ctypes.create_string_buffer(socket.CMSG_SPACE(4))
    header = _ControlHeader.from_buffer(control)
    header.length, header.level, header.kind = socket.CMSG_LEN(4), socket.SOL_SOCKET, socket.SCM_RIGHTS
    struct.pack_into("i", control, _HEADER_BYTES, descriptor)
    text = ctypes.create_string_buffer(data, len(data))
    part = _Part(ctypes.addressof(text), len(data))
    message = _Message(None, 0, ctypes.pointer(part), 1, ctypes.addressof(control), len(control), 0)
    while _libc.sendmsg(sock.fileno(), ctypes.byref(message), 0) < 0:
        number = ctypes.get_errno()
        if number != errno.EINTR:
            raise OSError(number, os.strerror(number))
