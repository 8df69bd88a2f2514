"""A linked program: its bytes and where everything stands."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple


@dataclass(frozen=True)
class Function:
    """Code that has a name."""

    name: str
    address: int
    size: int


@dataclass(frozen=True)
class Line:
    """From this address on, code is of this line of a source file; line 0: of none."""

    address: int
    file: str
    line: int


@dataclass(frozen=True)
class Inlined:
    """Code of a function that the compiler has put inline, once for each call. The call is in this line; `depth`: 1 in
    a function that is called, 2 inline in such code.
    """

    name: str
    file: str
    line: int
    depth: int
    ranges: tuple[tuple[int, int], ...]
    """Addresses and sizes, in the order of the addresses."""


class Place(NamedTuple):
    """A function that an instruction is of; where it is inline also its call, as `file:line`."""

    function: str
    called: str = ""


NOWHERE = Place("(no function)")
"""Of code that has no name."""


@dataclass(frozen=True)
class Program:
    """What stands in SRAM from `base` on: `data`, then `zeros` bytes of variables that have no value yet. It begins at
    `entry`.
    """

    base: int
    entry: int
    data: bytes
    zeros: int
    stack: int
    """The stack grows down from here."""
    symbols: Mapping[str, int]
    functions: tuple[Function, ...]
    """In the order of their addresses."""
    lines: tuple[Line, ...] = field(default=(), repr=False)
    """In the order of their addresses."""
    inlined: tuple[Inlined, ...] = field(default=(), repr=False)
    """The outer before the inner."""

    @property
    def end(self) -> int:
        """The first address behind it."""
        return self.base + len(self.data) + self.zeros

    @cached_property
    def _starts(self) -> tuple[list[int], list[int]]:
        return [one.address for one in self.functions], [one.address for one in self.lines]

    def function(self, address: int) -> Function | None:
        """The function that an address stands in; None: in none."""
        place = bisect_right(self._starts[0], address) - 1
        one = self.functions[place] if place >= 0 else None
        return one if one is not None and address < one.address + one.size else None

    def symbol(self, address: int) -> str:
        """`function`, or `function+0x8`, for messages; empty where there is none."""
        one = self.function(address)
        if one is None:
            return ""
        return f"{one.name}+{address - one.address:#x}" if address > one.address else one.name

    @cached_property
    def _inlines(self) -> dict[int, tuple[Inlined, ...]]:
        """By the address of each word, the innermost first."""
        found: dict[int, tuple[Inlined, ...]] = {}
        for one in sorted(self.inlined, key=lambda one: one.depth):
            for begin, size in one.ranges:
                for at in range(begin, begin + size, 4):
                    found[at] = (one, *found.get(at, ()))
        return found

    def inlines(self, address: int) -> tuple[Inlined, ...]:
        """What is inline at an address, the innermost first."""
        return self._inlines.get(address & ~3, ())

    def places(self, address: int) -> tuple[Place, ...]:
        """The function that an address stands in, then what is inline there, the innermost last."""
        one = self.function(address)
        inlines = reversed(self.inlines(address))
        return (Place(one.name) if one else NOWHERE, *(Place(it.name, f"{it.file}:{it.line}") for it in inlines))

    def place(self, address: int) -> str:
        """`function+0x8`, and before it the innermost function that is inline there: `step in main+0x40`."""
        inlines = self.inlines(address)
        return f"{inlines[0].name} in {self.symbol(address)}" if inlines else self.symbol(address)

    def names(self) -> tuple[str, ...]:
        """All functions, also those that are nowhere but inline, by name."""
        return tuple(sorted({one.name for one in self.functions} | {one.name for one in self.inlined}))

    def within(self, name: str) -> frozenset[int]:
        """The addresses of all words of a function, wherever it stands."""
        own = [(one.address, one.size) for one in self.functions if one.name == name]
        ranges = [*own, *(span for one in self.inlined if one.name == name for span in one.ranges)]
        return frozenset(at for begin, size in ranges for at in range(begin, begin + max(size, 4), 4))

    def line(self, address: int) -> Line | None:
        """The source line of an address; None: it is not known."""
        place = bisect_right(self._starts[1], address) - 1
        one = self.lines[place] if place >= 0 else None
        return one if one is not None and one.line else None
