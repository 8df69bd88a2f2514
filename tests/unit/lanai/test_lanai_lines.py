"""Line tables of DWARF 4.

Strategy: a unit with every opcode of the standard and a special one is written by hand, with its expected rows. Two
such units in a row are read as two; another version is rejected.
"""

from __future__ import annotations

import pytest

from pymodels.lanai.elf import LinkError
from pymodels.lanai.lines import files_of, lines_of
from pymodels.lanai.program import Line

STEP, LINE_BASE, LINE_RANGE, OPCODE_BASE = 4, -5, 14, 13
OPERANDS = bytes([0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1])
"""Numbers of operands of the standard opcodes, from 1 on."""
FILES = b"inc\0\0" + b"a.c\0\0\0\0b.h\0\1\0\0\0"
"""File table with one folder: a file beside the source, and one in the folder."""
STEPS: list[tuple[bytes, Line | None]] = [
    (b"\0\5\2\0\0\1\0", None),  # the address is 0x100
    (b"\1", Line(0x100, "a.c", 1)),
    (b"\2\3", None),  # three steps on
    (b"\3\x09", None),  # nine lines on
    (b"\4\2", None),  # file 2
    (bytes([OPCODE_BASE + (2 - LINE_BASE) + LINE_RANGE]), Line(0x110, "inc/b.h", 12)),  # one step, two lines
    (b"\5\7\6\7\x0a\x0b\x0c\0", None),  # column, marks, instruction set
    (b"\x08", None),  # as far as opcode 255: 17 steps
    (b"\x09\1\2", None),  # 0x102 bytes
    (b"\3\x7e", None),  # two lines back
    (b"\1", Line(0x256, "inc/b.h", 10)),
    (b"\0\1\1", Line(0x256, "", 0)),  # the end of this code
    (b"\1", Line(0, "a.c", 1)),
]


def unit(version: int = 4) -> bytes:
    """Return a unit of `.debug_line`."""
    head = bytes([STEP, 1, 1, LINE_BASE & 0xFF, LINE_RANGE, OPCODE_BASE]) + OPERANDS + FILES
    body = version.to_bytes(2, "big") + len(head).to_bytes(4, "big") + head + b"".join(code for code, _ in STEPS)
    return len(body).to_bytes(4, "big") + body


def test_each_opcode_transfers_the_bytes_defined_by_the_standard() -> None:
    rows = [row for _, row in STEPS if row is not None]
    assert list(lines_of(unit())) == rows
    assert list(lines_of(unit() + unit())) == rows + rows


def test_files_of_a_unit_are_found_by_its_offset() -> None:
    assert files_of(b"12345678" + unit(), 8) == ["", "a.c", "inc/b.h"]


def test_another_version_is_rejected_with_the_compiler_flags() -> None:
    with pytest.raises(LinkError, match="version 5.*compile with -gdwarf-4"):
        list(lines_of(unit(5)))
