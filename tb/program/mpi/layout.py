"""Datatypes of a program, and the memory that address, count and datatype of a call select."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from firmware.mpi.host.datatypes import Gathered
from firmware.mpi.host.errors import ErrorClass, Misuse
from tb.program.mpi import abi
from tb.program.mpi.memory import Memory
from tb.program.mpi.shapes import EMPTY, Basic, Shape

NAMES = {"LONG_LONG": "LONG_LONG_INT", "C_FLOAT_COMPLEX": "C_COMPLEX"}
"""MPI_Type_get_name results of predefined types that have two names."""
LARGEST_VOID = (1 << 31) - 1
"""Bytes of the largest element of numpy."""


class Made(NamedTuple):
    """Constructor call of a type: its combiner, and its arguments by kind."""

    combiner: int
    numbers: Sequence[int]
    places: Sequence[int]
    """Addresses."""
    kinds: Sequence[Layout]
    large: Sequence[int] = ()
    """Large counts."""


NAMED = Made(1, [], [], [])


class Attribute(NamedTuple):
    """Attribute value of an object, and its kind: a pointer, or a Fortran number."""

    value: int
    kind: int


@dataclass
class Layout:
    """Datatype of a program."""

    name: str
    shape: Shape
    base: np.dtype[Any]
    """numpy type of each basic element; for mixed types a void of the whole size."""
    made: Made = NAMED
    handle: int = 0
    """Handle of a predefined type; 0 of others."""
    basic: int = 0
    """Handle of the predefined type of all basic elements; 0 if there are different ones."""
    attributes: dict[int, Attribute] = field(default_factory=dict)
    title: str = ""
    """Name set by the program or by MPI; `name` describes other types in errors."""
    layer: Gathered = field(init=False)
    """Datatype of the layer, whose buffers hold the data without gaps."""

    @property
    def extent(self) -> int:
        """Distance from one element to the next."""
        return self.shape.extent

    def __post_init__(self) -> None:
        shape = self.shape
        self.layer = Gathered(self.name, shape.size, self.base, lambda: (shape.contiguous, len(shape.pieces)))
        if self.handle:
            self.title = self.name
            self.basic = self.handle
            self.layer.Commit()
            self.layer.basic = True


def predefined() -> dict[int, Layout]:
    """Return the predefined datatypes by handle."""
    found = {}
    shapes: dict[np.dtype[Any], Shape] = {}
    for name, (handle, kind) in abi.DATATYPES.items():
        base = np.dtype(kind)
        shape = shapes.setdefault(base, Basic([(0, base.itemsize)], base.itemsize, base.alignment))
        found[handle] = Layout(f"MPI_{NAMES.get(name, name)}", shape, base, handle=handle)
    for name, (handle, kinds, extent) in abi.PAIRS.items():
        base = abi.pair(*kinds)
        value, index = (np.dtype(kind).itemsize for kind in kinds)
        shape = Basic([(0, value), (max(value, index), index)], extent, max(value, index))
        found[handle] = Layout(f"MPI_{name}", shape, base, handle=handle)
    for name, handle in abi.MARKERS.items():
        found[handle] = Layout(f"MPI_{name}", EMPTY, np.dtype("u1"), handle=handle)
    return found


def derived(name: str, shape: Shape, parts: Iterable[Layout], made: Made) -> Layout:
    """Return a datatype composed of the elements of `parts`."""
    used = [kind for kind in parts if kind.shape.size]
    bases, basics = {kind.base for kind in used}, {kind.basic for kind in used}
    mixed = np.dtype(("V", shape.size)) if 0 < shape.size <= LARGEST_VOID else np.dtype("u1")
    basic = basics.pop() if len(basics) == 1 else 0
    return Layout(name, shape, bases.pop() if len(bases) == 1 else mixed, made, basic=basic)


class Place:
    """Elements at an address of a program; `data` holds their bytes in the order of the type, without gaps."""

    def __init__(self, memory: Memory, address: int, count: int, layout: Layout) -> None:
        if count < 0:
            raise Misuse(ErrorClass.COUNT, f"count is {count}", "give 0 or more")
        self._memory, self._layout, self.count = memory, layout, count
        self._address = address - (address >> 63 << 64)
        self.size = layout.shape.size * count
        if self.size and self._address + layout.shape.true_lower == 0:
            raise Misuse(ErrorClass.BUFFER, "the buffer is NULL", "give an address")
        self.data = bytearray(self.size)

    @property
    def spec(self) -> list[Any]:
        """Buffer, count and datatype in the form of the layer."""
        return [self.data, self.count, self._layout.layer]

    def read(self) -> Place:
        """Read the elements from the program's memory; return self."""
        self.data[:] = self._memory.gather(self._address, self._layout.shape.pieces_of(self.count))
        return self

    def write(self, size: int | None = None) -> None:
        """Write the first `size` bytes of the data (default: all) to the program's memory; gaps between
        pieces are unchanged.
        """
        data = self.data if size is None else self.data[:size]
        self._memory.scatter(self._address, self._layout.shape.pieces_of(self.count), data)
