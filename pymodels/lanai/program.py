"""A linked program: its bytes and where everything stands."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property


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
class Program:
    """What stands in SRAM from `base` on: `data`, then `zeros` bytes that are 0. It begins at `entry`."""

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

    def line(self, address: int) -> Line | None:
        """The source line of an address; None: it is not known."""
        place = bisect_right(self._starts[1], address) - 1
        one = self.lines[place] if place >= 0 else None
        return one if one is not None and one.line else None
