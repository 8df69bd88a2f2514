"""Parser of `.debug_info` as clang writes it with `-gdwarf-4`: functions, blocks, inlined code."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum

from pymodels.lanai.elf import LinkError

VERSION = 4


class Tag(IntEnum):
    """Kinds of entries that are used."""

    UNIT = 0x11
    INLINED = 0x1D


class Key(IntEnum):
    """Attributes of entries that are used."""

    NAME = 0x03
    LINES = 0x10
    LOW = 0x11
    HIGH = 0x12
    ORIGIN = 0x31
    RANGES = 0x55
    CALL_FILE = 0x58
    CALL_LINE = 0x59


@dataclass
class Reader:
    """Sequential reader of bytes."""

    data: bytes
    at: int = 0

    def number(self, size: int) -> int:
        """Return an unsigned number of `size` bytes."""
        self.at += size
        return int.from_bytes(self.data[self.at - size : self.at], "big")

    def skip(self, size: int) -> int:
        """Skip `size` bytes and return 0."""
        self.at += size
        return 0

    def signed_byte(self) -> int:
        """Return a signed number of one byte."""
        value = self.number(1)
        return value - 256 if value > 127 else value

    def leb(self) -> int:
        """Return an unsigned LEB128 number."""
        value = shift = 0
        while True:
            byte = self.number(1)
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def signed_leb(self) -> int:
        """Return a signed LEB128 number."""
        begin = self.at
        value, bits = self.leb(), 7 * (self.at - begin)
        return value - (1 << bits) if value >> bits - 1 else value

    def text(self) -> str:
        """Return a zero-terminated text."""
        end = self.data.index(b"\0", self.at)
        begin, self.at = self.at, end + 1
        return self.data[begin:end].decode()

    def texts(self) -> list[str]:
        """Return texts up to an empty one."""
        return list(iter(self.text, ""))


@dataclass(frozen=True)
class Entry:
    """Debugging information entry.

    Attributes:
        at: Offset in the section, which references use.
        tag: Kind of the entry.
        level: Depth in the tree.
    """

    at: int
    tag: int
    level: int
    values: Mapping[int, int]
    """Attribute values by key; a text is its offset in `.debug_str`, a reference the offset of the entry."""


Shape = tuple[int, bool, list[tuple[int, int]]]
"""Abbreviation of an entry: its tag, whether it has children, and the keys and forms of its attributes."""
_FORMS: Mapping[int, Callable[[Reader], int]] = {
    0x01: lambda reader: reader.number(4),  # address
    0x05: lambda reader: reader.number(2),
    0x06: lambda reader: reader.number(4),
    0x08: lambda reader: 0 * len(reader.text()),  # an inline text of the assembler, which is not used
    0x0B: lambda reader: reader.number(1),
    0x0D: Reader.signed_leb,
    0x0E: lambda reader: reader.number(4),  # offset of a text
    0x0F: Reader.leb,
    0x13: lambda reader: reader.number(4),  # reference
    0x17: lambda reader: reader.number(4),  # offset in another section
    0x18: lambda reader: reader.skip(reader.leb()),  # expression
    0x19: lambda reader: 1,  # flag without data
}


def entries(info: bytes, abbreviations: bytes) -> Iterator[Entry]:
    """Yield the entries of relocated sections, parents first. Raises LinkError for data that clang does not write."""
    reader = Reader(info)
    while reader.at < len(info):
        begin = reader.at
        end = begin + 4 + reader.number(4)
        version = reader.number(2)
        if version != VERSION:
            raise LinkError(".debug_info", f"version {version}", f"compile with -gdwarf-{VERSION}")
        shapes = _shapes(Reader(abbreviations, reader.number(4)))
        reader.skip(1)  # address size
        yield from _unit(reader, begin, end, shapes)
        reader.at = end


def _shapes(reader: Reader) -> dict[int, Shape]:
    """Return the abbreviations of a unit by their codes."""
    found: dict[int, Shape] = {}
    while code := reader.leb():
        tag, parent = reader.leb(), bool(reader.number(1))
        pairs = iter(lambda: (reader.leb(), reader.leb()), (0, 0))
        found[code] = tag, parent, list(pairs)
    return found


def _unit(reader: Reader, begin: int, end: int, shapes: Mapping[int, Shape]) -> Iterator[Entry]:
    level = 0
    while reader.at < end:
        at = reader.at
        code = reader.leb()
        if not code:
            level -= 1
            continue
        tag, parent, keys = shapes[code]
        values = {key: _value(reader, form) for key, form in keys}
        if Key.ORIGIN in values:
            values[Key.ORIGIN] += begin
        yield Entry(at, tag, level, values)
        level += parent


def _value(reader: Reader, form: int) -> int:
    if form not in _FORMS:
        raise LinkError(".debug_info", f"form {form:#x} is not known", f"compile with clang-16 -gdwarf-{VERSION}")
    return _FORMS[form](reader)
