"""Removes the GPU programs from a shared library: `remove-gpu-code.py FILE`. CatBoost's wheel has 224 MB of them, and a sandbox has no GPU.

The section .nv_fatbin lies inside a read-only segment. The segment is split around it: its first part ends before the section and is followed by zeros,
which need no space in the file; the second part begins after the section. The program header of the second part replaces PT_PHDR, which only programs
need. Symbols and section headers, which loading does not read, are removed too.
"""

import struct
import sys

_HEADER = struct.Struct("<16s2HI3QI6H")
_PROGRAM = struct.Struct("<2I6Q")
_SECTION = struct.Struct("<2I4Q2I2Q")
_LOAD, _PHDR = 1, 6
_PAGE = 0x10000


def without_section(data: bytes, wanted: str) -> bytes | None:
    """The library without the content of a section; None when it has none. Raises ValueError for a layout that cannot be split."""
    header = list(_HEADER.unpack_from(data))
    if header[12] == 0:
        return None
    sections = [_SECTION.unpack_from(data, header[6] + index * _SECTION.size) for index in range(header[12])]
    names = sections[header[13]][4]
    found = [one for one in sections if data[names + one[0] : data.index(b"\0", names + one[0])] == wanted.encode()]
    if not found:
        return None
    at, size = found[0][4], found[0][5]
    programs = [list(_PROGRAM.unpack_from(data, header[5] + index * _PROGRAM.size)) for index in range(header[10])]
    spare = next((index for index, one in enumerate(programs) if one[0] == _PHDR), None)
    outer = next((index for index, one in enumerate(programs) if one[0] == _LOAD and one[2] <= at < one[2] + one[5]), None)
    # Whole pages are removed, so that addresses and offsets keep their difference.
    begin, end = -(-at // _PAGE) * _PAGE, (at + size) // _PAGE * _PAGE
    if spare is None or outer is None or end <= begin or programs[outer][2] != programs[outer][3]:
        raise ValueError("its segments have another layout")
    first, removed = programs[outer], end - begin
    second = [_LOAD, first[1], end - removed, end, end, first[2] + first[5] - end, first[2] + first[6] - end, first[7]]
    first[5], first[6] = begin - first[2], end - first[2]
    for one in programs:
        if one is not first and one[2] >= end:
            one[2] -= removed
    del programs[spare]
    programs.insert(outer + (0 if spare < outer else 1), second)
    last = max(one[2] + one[5] for one in programs)
    header[6], header[12], header[13] = 0, 0, 0
    result = bytearray((data[:begin] + data[end:])[:last])
    _HEADER.pack_into(result, 0, *header)
    for index, one in enumerate(programs):
        _PROGRAM.pack_into(result, header[5] + index * _PROGRAM.size, *one)
    return bytes(result)


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        before = file.read()
    after = None
    try:
        after = without_section(before, ".nv_fatbin")
    except ValueError as error:
        print(f"{sys.argv[1]} stays as it is: {error}")
    if after is not None:
        with open(sys.argv[1], "wb") as file:
            file.write(after)
        print(f"{sys.argv[1]}: {len(before) // 10**6} MB, now {len(after) // 10**6} MB")
