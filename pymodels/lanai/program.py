"""Linked program: its bytes, symbols, source lines and inlined functions."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple


@dataclass(frozen=True)
class Function:
    """Function with its address and size."""

    name: str
    address: int
    size: int


@dataclass(frozen=True)
class Line:
    """Source line of the code from this address on; line 0 for code without a source line."""

    address: int
    file: str
    line: int


@dataclass(frozen=True)
class Inlined:
    """Inlined copy of a function; `file` and `line` are those of the call. `depth` is 1 inside a called function, 2
    inside code that is itself inlined, and so on.
    """

    name: str
    file: str
    line: int
    depth: int
    ranges: tuple[tuple[int, int], ...]
    """Addresses and sizes of the code, sorted by address."""


class Place(NamedTuple):
    """Function of an instruction, and for inlined code the position of the call as `file:line`."""

    function: str
    called: str = ""


NOWHERE = Place("(no function)")
"""Place of code without a name."""


@dataclass(frozen=True)
class Program:
    """Content of SRAM from `base` on: `data`, then `zeros` bytes of uninitialized variables. Execution begins at
    `entry`.
    """

    base: int
    entry: int
    data: bytes
    zeros: int
    stack: int
    """Initial stack pointer; the stack grows down."""
    symbols: Mapping[str, int]
    functions: tuple[Function, ...]
    """Functions sorted by address."""
    lines: tuple[Line, ...] = field(default=(), repr=False)
    """Source lines sorted by address."""
    inlined: tuple[Inlined, ...] = field(default=(), repr=False)
    """Inlined functions, outer before inner."""

    @property
    def end(self) -> int:
        """First address after the program."""
        return self.base + len(self.data) + self.zeros

    @cached_property
    def _starts(self) -> tuple[list[int], list[int]]:
        return [one.address for one in self.functions], [one.address for one in self.lines]

    def function(self, address: int) -> Function | None:
        """Return the function that contains an address, or None."""
        place = bisect_right(self._starts[0], address) - 1
        one = self.functions[place] if place >= 0 else None
        return one if one is not None and address < one.address + one.size else None

    def symbol(self, address: int) -> str:
        """Return `function` or `function+0x8` for messages; empty for an address outside of all functions."""
        one = self.function(address)
        if one is None:
            return ""
        return f"{one.name}+{address - one.address:#x}" if address > one.address else one.name

    @cached_property
    def _inlines(self) -> dict[int, tuple[Inlined, ...]]:
        """Inlined functions by the address of each word, innermost first."""
        found: dict[int, tuple[Inlined, ...]] = {}
        for one in sorted(self.inlined, key=lambda one: one.depth):
            for begin, size in one.ranges:
                for at in range(begin, begin + size, 4):
                    found[at] = (one, *found.get(at, ()))
        return found

    def inlines(self, address: int) -> tuple[Inlined, ...]:
        """Return the inlined functions at an address, innermost first."""
        return self._inlines.get(address & ~3, ())

    def places(self, address: int) -> tuple[Place, ...]:
        """Return the function that contains an address, then the inlined functions there, innermost last."""
        one = self.function(address)
        inlines = reversed(self.inlines(address))
        return (Place(one.name) if one else NOWHERE, *(Place(it.name, f"{it.file}:{it.line}") for it in inlines))

    def place(self, address: int) -> str:
        """Return `function+0x8`, preceded by the innermost inlined function if there is one: `step in main+0x40`."""
        inlines = self.inlines(address)
        return f"{inlines[0].name} in {self.symbol(address)}" if inlines else self.symbol(address)

    def names(self) -> tuple[str, ...]:
        """Return the names of all functions, including those that exist only as inlined code, sorted."""
        return tuple(sorted({one.name for one in self.functions} | {one.name for one in self.inlined}))

    def within(self, name: str) -> frozenset[int]:
        """Return the addresses of all words of a function, including its inlined copies."""
        own = [(one.address, one.size) for one in self.functions if one.name == name]
        ranges = [*own, *(span for one in self.inlined if one.name == name for span in one.ranges)]
        return frozenset(at for begin, size in ranges for at in range(begin, begin + max(size, 4), 4))

    def line(self, address: int) -> Line | None:
        """Return the source line of an address, or None if unknown."""
        place = bisect_right(self._starts[1], address) - 1
        one = self.lines[place] if place >= 0 else None
        return one if one is not None and one.line else None
