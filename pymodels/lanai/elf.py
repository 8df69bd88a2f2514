"""Reader of object files from clang-16 for the LANai: ELF32, big-endian, machine 244, relocations with addends."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from pymodels.errors import SanlabError

MACHINE = 244
UNDEFINED, ABSOLUTE, COMMON = 0, 0xFFF1, 0xFFF2
"""Section indices of symbols that are in no section."""
LOCAL, GLOBAL, WEAK = 0, 1, 2
"""Symbol bindings."""
ALLOCATED, EXECUTED = 2, 4
"""Section flags."""
_HEADER = struct.Struct(">16sHHIIIIIHHHHHH")
_SECTION = struct.Struct(">10I")
_SYMBOL = struct.Struct(">IIIBBH")
_RELOCATION = struct.Struct(">IIi")


class LinkError(SanlabError):
    """Object file that cannot be read or linked."""


class SectionType(IntEnum):
    """Section types that are used."""

    SYMBOLS = 2
    RELA = 4
    NOBITS = 8
    REL = 9


class SymbolType(IntEnum):
    """Symbol types that are used."""

    FUNCTION = 2
    SECTION = 3
    FILE = 4


@dataclass(frozen=True)
class Relocation:
    """Position in a section that depends on the address of a symbol."""

    offset: int
    symbol: int
    kind: int
    addend: int


@dataclass(frozen=True)
class Section:
    """Section of an object file with its relocations."""

    name: str
    kind: int
    flags: int
    size: int
    align: int
    data: bytes
    relocations: tuple[Relocation, ...] = ()


@dataclass(frozen=True)
class Symbol:
    """Symbol. `value` is its offset in the section with index `section`, an absolute value, or the alignment of a
    common.
    """

    name: str
    value: int
    size: int
    binding: int
    kind: int
    section: int


@dataclass(frozen=True)
class Object:
    """Object file. `name` is used in messages."""

    name: str
    sections: tuple[Section, ...]
    symbols: tuple[Symbol, ...]

    @staticmethod
    def read(name: str, data: bytes) -> Object:
        """Return the content of an object file. Raises LinkError unless it is a valid object file for the LANai."""
        try:
            return _read(name, data)
        except (struct.error, IndexError, ValueError) as error:
            raise LinkError(name, f"is cut short or damaged ({error})", "compile it again") from error


def _read(name: str, data: bytes) -> Object:
    if len(data) < _HEADER.size or not data.startswith(b"\x7fELF"):
        raise LinkError(name, "is not an ELF file", "compile with clang-16 --target=lanai -c")
    identity, kind, machine, _, _, _, sections_at, _, _, _, _, _, count, names_at = _HEADER.unpack_from(data)
    if (identity[4], identity[5], kind, machine) != (1, 2, 1, MACHINE):
        raise LinkError(name, "is not an object file for the LANai", "compile with clang-16 --target=lanai -c")
    heads = [_SECTION.unpack_from(data, sections_at + _SECTION.size * number) for number in range(count)]
    contents = [b"" if head[1] == SectionType.NOBITS else data[head[4] : head[4] + head[5]] for head in heads]
    names = contents[names_at]
    symbols: tuple[Symbol, ...] = ()
    relocations: dict[int, tuple[Relocation, ...]] = {}
    for head, content in zip(heads, contents, strict=True):
        if head[1] == SectionType.SYMBOLS:
            symbols = tuple(_symbols(content, contents[head[6]]))
        elif head[1] == SectionType.RELA:
            relocations[head[7]] = tuple(
                Relocation(at, info >> 8, info & 0xFF, addend) for at, info, addend in _RELOCATION.iter_unpack(content)
            )
        elif head[1] == SectionType.REL:
            raise LinkError(name, "has relocations without addends", "compile with clang-16")
    sections = (
        Section(_text(names, head[0]), head[1], head[2], head[5], max(head[8], 1), content, relocations.get(number, ()))
        for number, (head, content) in enumerate(zip(heads, contents, strict=True))
    )
    return Object(name, tuple(sections), symbols)


def _symbols(table: bytes, strings: bytes) -> Iterator[Symbol]:
    for name, value, size, info, _, section in _SYMBOL.iter_unpack(table):
        yield Symbol(_text(strings, name), value, size, info >> 4, info & 15, section)


def _text(strings: bytes, at: int) -> str:
    return strings[at : strings.index(b"\0", at)].decode()
