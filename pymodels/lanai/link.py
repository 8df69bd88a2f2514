"""Linker for the LANai, which no public linker supports: object files to a program at fixed addresses.

Order: code, beginning with the section that contains the entry; data; variables that are not cleared (section
`.bss.unset`); variables that are cleared; commons. Objects of a library are linked only if they define a missing
symbol. The linker defines `__bss_start` (begin of the cleared variables), `__bss_end` and `__stack`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence

from pymodels.lanai.elf import (
    ABSOLUTE,
    ALLOCATED,
    COMMON,
    EXECUTED,
    GLOBAL,
    LOCAL,
    UNDEFINED,
    WEAK,
    LinkError,
    Object,
    Section,
    SectionType,
    Symbol,
    SymbolType,
)
from pymodels.lanai.inlines import inlined_of
from pymodels.lanai.isa import WORD
from pymodels.lanai.lines import lines_of
from pymodels.lanai.program import Function, Inlined, Line, Program
from pymodels.lanai.relocate import refused, relocated

STACK = 4096
"""Default number of bytes that must remain for the stack."""
BY_LINKER = "the linker"
UNSET = ".bss.unset"
"""Section of variables that a program writes before it reads them, and that are therefore not cleared."""
Place = tuple[int, int]
"""Index of an object, and index of a section in it."""


def link(
    objects: Sequence[Object],
    library: Sequence[Object] = (),
    *,
    sram_bytes: int,
    base: int = 0,
    entry: str = "start",
    stack: int | None = None,
    stack_bytes: int = STACK,
    absolute: Mapping[str, int] | None = None,
) -> Program:
    """Link object files to a program.

    Args:
        objects: Object files, all of which are linked.
        library: Object files that are linked only if they define a missing symbol.
        sram_bytes: Size of the SRAM.
        base: Address of the first byte.
        entry: Symbol of the first instruction, which must be at `base`.
        stack: Initial stack pointer; None for the end of the SRAM.
        stack_bytes: Bytes that must remain for the stack.
        absolute: Addresses of further symbols.

    Raises:
        LinkError: A symbol is missing or defined twice, or the program does not fit.
    """
    top = (sram_bytes if stack is None else stack) & ~7
    return _Linker(_needed(objects, library), base, entry).link(top, stack_bytes, dict(absolute or {}))


def _defined(one: Object) -> set[str]:
    return {symbol.name for symbol in one.symbols if symbol.binding != LOCAL and symbol.section != UNDEFINED}


def _missing(objects: Sequence[Object]) -> set[str]:
    wanted = {
        symbol.name
        for one in objects
        for symbol in one.symbols
        if symbol.section == UNDEFINED and symbol.binding == GLOBAL
    }
    return wanted.difference(*map(_defined, objects))


def _needed(objects: Sequence[Object], library: Sequence[Object]) -> list[Object]:
    """Return the objects, and those of the library that define missing symbols."""
    taken, rest = list(objects), list(library)
    while chosen := [one for one in rest if _defined(one) & _missing(taken)]:
        taken.append(chosen[0])
        rest.remove(chosen[0])
    return taken


class _Linker:
    """State of a link."""

    def __init__(self, objects: Sequence[Object], base: int, entry: str) -> None:
        self.objects = objects
        self.base = base
        self.entry = entry
        self.places: dict[Place, int] = {}
        self.end = base
        self.names: dict[str, tuple[int, int, str]] = {}  # address, binding, definer
        self.image = bytearray()

    def link(self, stack: int, stack_bytes: int, absolute: Mapping[str, int]) -> Program:
        self._place()
        data_end = self.end
        self._place_zeros(unset=True)
        zeros = self.end
        self._place_zeros(unset=False)
        self._define_all()
        self._place_commons()
        made = {"__bss_start": zeros, "__bss_end": self.end, "__stack": stack, **absolute}
        for name, value in made.items():
            self._define(name, value, GLOBAL, BY_LINKER)
        self._check(stack, stack_bytes)
        self.image = bytearray(data_end - self.base)
        for place, section in self._sections():
            if place in self.places and section.kind != SectionType.NOBITS:
                at = self.places[place] - self.base
                self.image[at : at + section.size] = self._relocate(place, section)
        functions = tuple(sorted(self._functions(), key=lambda one: one.address))
        symbols = {one.name: one.address for one in functions} | {name: at for name, (at, _, _) in self.names.items()}
        return Program(
            self.base,
            self.names[self.entry][0],
            bytes(self.image),
            self.end - data_end,
            stack,
            dict(sorted(symbols.items(), key=lambda item: (item[1], item[0]))),
            functions,
            self._lines(),
            self._inlined([one.address for one in functions]),
        )

    # --- places ---------------------------------------------------------------------------------------------------

    def _sections(self) -> Iterator[tuple[Place, Section]]:
        for number, one in enumerate(self.objects):
            for index, section in enumerate(one.sections):
                yield (number, index), section

    def _append(self, place: Place, section: Section) -> None:
        if place in self.places or not section.flags & ALLOCATED or not section.size:
            return
        self.end += -self.end % max(section.align, 4)
        self.places[place] = self.end
        self.end += section.size

    def _place(self) -> None:
        """Assign addresses to code, the section of the entry first, then to data."""
        for number, one in enumerate(self.objects):
            for symbol in one.symbols:
                if symbol.name == self.entry and symbol.section < len(one.sections) and symbol.section != UNDEFINED:
                    self._append((number, symbol.section), one.sections[symbol.section])
        for executed in (True, False):
            for place, section in self._sections():
                if bool(section.flags & EXECUTED) == executed and section.kind != SectionType.NOBITS:
                    self._append(place, section)
        self.end += -self.end % 4

    def _place_zeros(self, unset: bool) -> None:
        for place, section in self._sections():
            if section.kind == SectionType.NOBITS and (section.name == UNSET) == unset:
                self._append(place, section)
        self.end += -self.end % 4

    def _place_commons(self) -> None:
        """Assign addresses to commons, with the largest size and alignment that any object requests."""
        wanted: dict[str, tuple[int, int]] = {}
        for one in self.objects:
            for symbol in one.symbols:
                if symbol.section == COMMON:
                    size, align = wanted.get(symbol.name, (0, 4))
                    wanted[symbol.name] = max(size, symbol.size), max(align, symbol.value)
        for name, (size, align) in wanted.items():
            if name not in self.names:
                self.end += -self.end % align
                self.names[name] = self.end, GLOBAL, "a common"
                self.end += size + -size % 4

    def _check(self, stack: int, stack_bytes: int) -> None:
        if self.entry not in self.names:
            raise LinkError(f"symbol {self.entry!r}", "no object defines it", "the program begins there: link crt0")
        if self.names[self.entry][0] != self.base:
            cause = f"is at {self.names[self.entry][0]:#x}, not at {self.base:#x}"
            raise LinkError(f"symbol {self.entry!r}", cause, "put nothing before it in its section")
        if self.end + stack_bytes > stack:
            cause = (
                f"{self.end - self.base:#x} bytes from {self.base:#x} on and {stack_bytes:#x} of stack end beyond it"
            )
            raise LinkError(f"program before the stack's begin at {stack:#x}", cause, "make program or stack smaller")

    # --- names ----------------------------------------------------------------------------------------------------

    def _define(self, name: str, value: int, binding: int, who: str) -> None:
        old = self.names.get(name)
        if old is not None and old[1] == binding == GLOBAL:
            raise LinkError(f"symbol {name!r}", f"is defined by {old[2]} and by {who}", "rename one, or make it static")
        if old is None or binding == GLOBAL:
            self.names[name] = value, binding, who

    def _define_all(self) -> None:
        for number, one in enumerate(self.objects):
            for symbol in one.symbols:
                if symbol.binding != LOCAL and symbol.section not in (UNDEFINED, COMMON):
                    self._define(symbol.name, self._value(number, symbol), symbol.binding, one.name)

    def _value(self, number: int, symbol: Symbol) -> int:
        """Return the address of a symbol of an object."""
        if symbol.section == ABSOLUTE:
            return symbol.value
        if symbol.section in (UNDEFINED, COMMON):
            if symbol.name in self.names:
                return self.names[symbol.name][0]
            if symbol.binding == WEAK:
                return 0
            where = self.objects[number].name
            raise LinkError(
                f"symbol {symbol.name!r} in {where}", "no object defines it", "write it, or link what has it"
            )
        return self.places.get((number, symbol.section), 0) + symbol.value  # 0: of a section for debuggers

    def _functions(self) -> Iterator[Function]:
        for number, one in enumerate(self.objects):
            for symbol in one.symbols:
                if symbol.kind == SymbolType.FUNCTION and (number, symbol.section) in self.places:
                    yield Function(symbol.name, self._value(number, symbol), symbol.size)

    def _lines(self) -> tuple[Line, ...]:
        """Return the line entries by address; an end of code is dropped where other code begins."""
        found = [
            line
            for place, section in self._sections()
            if section.name == ".debug_line"
            for line in lines_of(self._relocate(place, section))
            if line.address < self.base + len(self.image)
        ]
        found.sort(key=lambda one: (one.address, one.line != 0))
        return tuple({one.address: one for one in found}.values())

    def _inlined(self, begins: Sequence[int]) -> tuple[Inlined, ...]:
        """Return the inlined functions in the order of the functions that contain them, whose addresses are
        `begins`.
        """
        found = list[Inlined]()
        for number, one in enumerate(self.objects):
            debug = {
                section.name: self._relocate((number, index), section)
                for index, section in enumerate(one.sections)
                if section.name.startswith(".debug_")
            }
            found += inlined_of(debug)
        return tuple(sorted(found, key=lambda one: bisect_right(begins, one.ranges[0][0])))

    # --- relocations ----------------------------------------------------------------------------------------------

    def _relocate(self, place: Place, section: Section) -> bytes:
        """Return the bytes of a section with all addresses inserted."""
        one, data = self.objects[place[0]], bytearray(section.data)
        for relocation in section.relocations:
            symbol, at = one.symbols[relocation.symbol], relocation.offset
            value = self._value(place[0], symbol) + relocation.addend & WORD
            if why := refused(relocation.kind, value):
                name = symbol.name or "a section"
                raise LinkError(f"{name} in {one.name} ({section.name}+{at:#x})", why, "link the program lower")
            word = relocated(relocation.kind, int.from_bytes(data[at : at + 4], "big"), value)
            data[at : at + 4] = word.to_bytes(4, "big")
        return bytes(data)
