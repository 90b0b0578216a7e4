"""Buffers that take memory once they are used. An idle sandbox has three, 1.5 MB together."""

import mmap


def reserved_buffer(size: int) -> memoryview:
    """`size` writable bytes. Each page takes memory from its first use on; `bytearray` would write zeros to all of them at once."""
    return memoryview(mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
