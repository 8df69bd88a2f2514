"""Datatypes of a program, and the places in its memory that count, datatype and address name together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from firmware.host.mpi.datatypes import Block, Datatype
from firmware.host.mpi.errors import ErrorClass, Misuse
from tb.program.mpi.abi import DATATYPES, PAIRS, pair
from tb.program.mpi.memory import Memory

Made = tuple[int, Sequence[int], Sequence[int], "Sequence[Layout]"]
"""How a type was made: combiner, and its numbers, addresses and datatypes."""


class Attribute(NamedTuple):
    """Value that a program has fastened to an object, and its kind: a pointer or a number of Fortran."""

    value: int
    kind: int


@dataclass
class Layout:
    """A datatype: the layer's has its first byte at 0, and stands `low` behind the address of an element."""

    name: str
    layer: Datatype
    low: int = 0
    lower_bound: int = 0
    made: Made = (1, [], [], [])
    handle: int = 0
    """Of a type of the standard."""
    attributes: dict[int, Attribute] = field(default_factory=dict)

    @property
    def extent(self) -> int:
        """From one element to the next."""
        return self.layer.extent

    @property
    def blocks(self) -> list[Block]:
        """Offset from the element's address, and length."""
        return [(at + self.low, length) for at, length in self.layer.blocks]


def predefined() -> dict[int, Layout]:
    """The datatypes of the standard, by handle."""
    found = {}
    for name, (handle, kind) in DATATYPES.items():
        base = np.dtype(kind)
        found[handle] = _predefined(name, handle, base, base.itemsize)
    for name, (handle, kind, extent) in PAIRS.items():
        found[handle] = _predefined(name, handle, pair(kind), extent)
    return found


def _predefined(name: str, handle: int, base: np.dtype[Any], extent: int) -> Layout:
    value = base.itemsize - 4 if base.fields else 0
    index_at = max(value, 4) if base.fields and value < 8 else value
    blocks = [(0, value), (index_at, 4)] if base.fields else [(0, base.itemsize)]
    made = Datatype(f"MPI_{name}", blocks, extent, base).Commit()
    made.basic = True
    return Layout(f"MPI_{name}", made, handle=handle)


def derived(name: str, parts: Sequence[tuple[int, int, Layout]], made: Made) -> Layout:
    """Blocks of so many elements of a type at so many bytes: count, place, type. Lower bound and extent are those that
    the standard gives.
    """
    blocks: list[Block] = []
    lowest: list[int] = []
    highest: list[int] = []
    for count, place, kind in parts:
        if count < 0:
            raise Misuse(ErrorClass.ARG, f"a block has {count} elements", "give 0 or more")
        if not count:
            continue
        first, last = sorted((place, place + (count - 1) * kind.extent))
        if kind.layer.contiguous:
            blocks.append((place + kind.low, count * kind.extent))
        else:
            starts = [place + at * kind.extent for at in range(count)]
            blocks += [(start + at, length) for start in starts for at, length in kind.blocks]
        lowest.append(first + kind.lower_bound)
        highest.append(last + kind.lower_bound + kind.extent)
    low, high = min(lowest, default=0), max(highest, default=0)
    bases = {kind.layer.base for count, _, kind in parts if count}
    size = sum(length for _, length in blocks)
    return shaped(name, blocks, low, high - low, bases.pop() if len(bases) == 1 else np.dtype(("V", size)), made)


def shaped(
    name: str, blocks: Sequence[Block], lower_bound: int, extent: int, base: np.dtype[Any] | None, made: Made
) -> Layout:
    """Blocks with bounds of their own."""
    low = min((at for at, length in blocks if length), default=0)
    layer = Datatype(name, [(at - low, length) for at, length in blocks], extent, base)
    return Layout(name, layer, low, lower_bound, made)


class Place:
    """`count` elements at an address of a program. `spec` is the buffer argument that the layer takes."""

    def __init__(self, memory: Memory, address: int, count: int, layout: Layout) -> None:
        if count < 0:
            raise Misuse(ErrorClass.COUNT, f"count is {count}", "give 0 or more")
        self._memory, self._layout, self.count = memory, layout, count
        self._at = address + layout.low
        self.size = layout.layer.span(count)
        if self.size and not address and not layout.low:
            raise Misuse(ErrorClass.BUFFER, "the buffer is NULL", "give one")
        self.data = bytearray(self.size)

    @property
    def spec(self) -> list[Any]:
        """Buffer, count, datatype."""
        return [self.data, self.count, self._layout.layer]

    def read(self) -> Place:
        """Take what stands there; itself."""
        self.data[:] = self._memory.get(self._at, self.size)
        return self

    def write(self, size: int | None = None) -> None:
        """Put back what has come, `size` bytes of data or all: the gaps of the program's buffer stay as they are."""
        left = self.count * self._layout.layer.size if size is None else size
        if self._layout.layer.contiguous:
            self._memory.put(self._at, self.data[: min(left, self.size)])
            return
        for at, length in self._pieces():
            if left <= 0:
                return
            self._memory.put(self._at + at, self.data[at : at + min(length, left)])
            left -= length

    def write_elements(self, begin: int, count: int) -> None:
        """Put back some of the elements."""
        part = Place(self._memory, self._at - self._layout.low + begin * self._layout.extent, count, self._layout)
        start = begin * self._layout.extent
        part.data[:] = self.data[start : start + part.size]
        part.write()

    def _pieces(self) -> Iterator[Block]:
        for element in range(self.count):
            for at, length in self._layout.layer.blocks:
                yield element * self._layout.extent + at, length
