"""Invented object files of the LANai for unit tests: sections, symbols and relocations as bytes."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from pymodels.lanai.elf import ALLOCATED, COMMON, EXECUTED, GLOBAL, MACHINE, Object, SectionType, SymbolType

PROGBITS, STRINGS = 1, 3
CODE, DATA = ALLOCATED | EXECUTED, ALLOCATED
REL, RELA = SectionType.REL, SectionType.RELA


@dataclass
class Section:
    """A section: its words, or so many zero bytes, and relocations as (offset, name of the symbol, kind, addend)."""

    name: str
    flags: int
    words: Sequence[int] = ()
    zeros: int = 0
    align: int = 4
    relocations: Sequence[tuple[int, str, int, int]] = ()


@dataclass
class Name:
    """A symbol: in the section of a name, or at a special place."""

    name: str
    section: str | int
    value: int = 0
    size: int = 4
    binding: int = GLOBAL
    kind: int = SymbolType.FUNCTION


def common(name: str, size: int, align: int = 4) -> Name:
    """Return a common symbol."""
    return Name(name, COMMON, align, size, kind=1)


def elf(parts: Sequence[Section], names: Sequence[Name], machine: int = MACHINE, relocation_type: int = RELA) -> bytes:
    """Return the bytes of an object file."""
    strings = bytearray(b"\0")

    def text(name: str) -> int:
        strings.extend(name.encode() + b"\0")
        return len(strings) - len(name) - 1

    numbers = {part.name: number for number, part in enumerate(parts, 1)}
    symbols = bytearray(16)
    for one in names:
        place = numbers[one.section] if isinstance(one.section, str) else one.section
        symbols += struct.pack(">IIIBBH", text(one.name), one.value, one.size, one.binding << 4 | one.kind, 0, place)
    known = {one.name: number for number, one in enumerate(names, 1)}
    heads: list[
        tuple[int, int, int, bytes, int, int, int, int]
    ] = []  # name, type, flags, data, size, link, info, align
    for part in parts:
        data = struct.pack(f">{len(part.words)}I", *part.words)
        kind = SectionType.NOBITS if part.zeros else PROGBITS
        heads.append((text(part.name), kind, part.flags, data, part.zeros or len(data), 0, 0, part.align))
    strings_at, symbols_at = len(parts) + 1, len(parts) + 2
    heads.append((text(".strtab"), STRINGS, 0, b"", 0, 0, 0, 1))
    heads.append((text(".symtab"), SectionType.SYMBOLS, 0, bytes(symbols), len(symbols), strings_at, 1, 4))
    for part in parts:
        if part.relocations:
            rows = ((at, known[name] << 8 | kind, addend) for at, name, kind, addend in part.relocations)
            data = b"".join(struct.pack(">IIi", *row) for row in rows)
            head = text(f".rela{part.name}"), relocation_type, 0, data, len(data), symbols_at, numbers[part.name], 4
            heads.append(head)
    heads[strings_at - 1] = (*heads[strings_at - 1][:3], bytes(strings), len(strings), 0, 0, 1)
    return _file(heads, machine, strings_at)


def _file(heads: Sequence[tuple[int, int, int, bytes, int, int, int, int]], machine: int, names_at: int) -> bytes:
    at, body, table = 52, bytearray(), bytearray(40)
    for name, kind, flags, data, size, link, info, align in heads:
        table += struct.pack(">10I", name, kind, flags, 0, at + len(body), size, link, info, align, 0)
        body += data
    identity = b"\x7fELF\x01\x02\x01" + bytes(9)
    count = len(heads) + 1
    head = struct.pack(
        ">16sHHIIIIIHHHHHH", identity, 1, machine, 1, 0, 0, at + len(body), 0, 52, 0, 0, 40, count, names_at
    )
    return head + bytes(body) + bytes(table)


def made(name: str, parts: Sequence[Section], names: Sequence[Name]) -> Object:
    """Return an object file as read by `Object.read`."""
    return Object.read(name, elf(parts, names))
