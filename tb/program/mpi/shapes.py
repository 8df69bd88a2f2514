"""Arithmetic of MPI datatypes: sizes, bounds, alignment, and the pieces of memory of an element.

A shape is a tree of repetitions and sequences over basic types. Bounds, sizes and counts are computed without expanding
the tree; only `Shape.pieces` lists single pieces. The rules are those of MPICH 4 and its type engine yaksa. They also
apply where MPI leaves the choice to the library (padding of structs, types without data). All sizes are in bytes.
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from enum import IntEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from firmware.mpi.host.errors import ErrorClass, Misuse

Pieces = NDArray[np.int64]
"""Offset and length of each piece in sending order; shape (n, 2)."""
MOST_PIECES = 1 << 24


class Order(IntEnum):
    """Order of the dimensions of an array."""

    C = 56
    FORTRAN = 57


class Distribution(IntEnum):
    """Distribution of a dimension of an array over processes."""

    BLOCK = 121
    CYCLIC = 122
    NONE = 123


DEFAULT_ARGUMENT = -49767
"""MPI_DISTRIBUTE_DFLT_DARG."""


class Shape(ABC):
    """A datatype without its name and history. Equal shapes may be different objects."""

    size: int
    """Bytes of data."""
    elements: int
    """Basic elements."""
    lower: int
    """Lower bound."""
    upper: int
    """Upper bound."""
    true_lower: int
    """Offset of the first byte of data."""
    true_upper: int
    """Offset after the last byte of data."""
    alignment: int
    """Strictest alignment of the basic types."""

    @property
    def extent(self) -> int:
        """Distance from one element to the next."""
        return self.upper - self.lower

    @property
    def true_extent(self) -> int:
        """Distance from the first byte of data to the byte after the last."""
        return self.true_upper - self.true_lower

    @cached_property
    def pieces(self) -> Pieces:
        """Pieces of one element, with adjacent pieces merged. Raises Misuse if there are too many to list."""
        if self.size == 0:
            return np.zeros((0, 2), np.int64)
        return merged(self._listed())

    @property
    def contiguous(self) -> bool:
        """True if elements in sequence have no gaps and begin at their address."""
        return self.size == self.extent and self.pieces.tolist() in ([[0, self.size]], [])

    def pieces_of(self, count: int) -> Pieces:
        """Return the pieces of `count` elements in sequence."""
        if self.size == 0 or count == 0:
            return np.zeros((0, 2), np.int64)
        return merged(repeated_pieces(self.pieces, count, self.extent))

    def elements_in(self, size: int) -> int:
        """Return the number of complete basic elements in the first `size` bytes of data."""
        if not self.size:
            return 0
        whole, rest = divmod(size, self.size)
        return whole * self.elements + (self._elements_of_part(rest) if rest else 0)

    def size_of(self, elements: int) -> int:
        """Return the bytes of data of the first `elements` basic elements."""
        if not self.elements:
            return 0
        whole, rest = divmod(elements, self.elements)
        return whole * self.size + (self._size_of_part(rest) if rest else 0)

    @abstractmethod
    def _listed(self) -> Pieces:
        """Return the pieces of one element, unmerged."""

    @abstractmethod
    def _elements_of_part(self, size: int) -> int:
        """Return the number of basic elements in the first `size` bytes of one element."""

    @abstractmethod
    def _size_of_part(self, elements: int) -> int:
        """Return the bytes of the first `elements` basic elements of one element."""


class Basic(Shape):
    """A basic type, or a pair of two of them."""

    def __init__(self, fields: Sequence[tuple[int, int]], extent: int, alignment: int) -> None:
        """`fields`: offset and size of each basic element."""
        self._fields = fields
        self.size = sum(size for _, size in fields)
        self.elements = len(fields) if self.size else 0
        self.lower, self.upper, self.alignment = 0, extent, alignment
        self.true_lower, self.true_upper = 0, max((at + size for at, size in fields), default=0)

    def _listed(self) -> Pieces:
        return np.array(self._fields, np.int64)

    def _elements_of_part(self, size: int) -> int:
        ends = itertools.accumulate(length for _, length in self._fields)
        return sum(end <= size for end in ends)

    def _size_of_part(self, elements: int) -> int:
        return sum(length for _, length in self._fields[:elements])


EMPTY = Basic([], 0, 1)
"""Shape of types without data."""


class _Strided(Shape):
    """Strided blocks of consecutive elements."""

    def __init__(self, child: Shape, count: int, length: int, stride: int) -> None:
        self._child, self._count, self._length, self._stride = child, count, length, stride
        self.size, self.elements = child.size * length * count, child.elements * length * count
        self.alignment = child.alignment
        inner, outer = child.extent * (length - 1), stride * (count - 1)
        self.lower = child.lower + (outer if stride < 0 else 0) + (inner if child.extent < 0 else 0)
        self.upper = child.upper + (outer if stride > 0 else 0) + (inner if child.extent > 0 else 0)
        _true_bounds(self, child)

    def _listed(self) -> Pieces:
        block = merged(repeated_pieces(self._child.pieces, self._length, self._child.extent))
        return repeated_pieces(block, self._count, self._stride)

    def _elements_of_part(self, size: int) -> int:
        return self._child.elements_in(size)

    def _size_of_part(self, elements: int) -> int:
        return self._child.size_of(elements)


class _Resized(Shape):
    """Shape with changed bounds."""

    def __init__(self, child: Shape, lower: int, extent: int) -> None:
        self._child = child
        self.size, self.elements, self.alignment = child.size, child.elements, child.alignment
        self.lower, self.upper = lower, lower + extent
        self.true_lower, self.true_upper = child.true_lower, child.true_upper

    def _listed(self) -> Pieces:
        return self._child.pieces

    def _elements_of_part(self, size: int) -> int:
        return self._child.elements_in(size)

    def _size_of_part(self, elements: int) -> int:
        return self._child.size_of(elements)


Part = tuple[int, int, Shape]
"""Number of consecutive elements, offset of the first, and their shape."""


class _Sequence(Shape):
    """Blocks of elements at any offsets."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self._parts = [part for part in parts if part[0]]
        self.size = sum(length * kind.size for length, _, kind in self._parts)
        self.elements = sum(length * kind.elements for length, _, kind in self._parts)
        bounds = [_bounds(*part) for part in self._parts]
        true = [
            (low - kind.lower + kind.true_lower, high - kind.upper + kind.true_upper)
            for (low, high), (_, _, kind) in zip(bounds, self._parts, strict=True)
        ]
        self.lower, self.upper = min(low for low, _ in bounds), max(high for _, high in bounds)
        self.true_lower, self.true_upper = min(low for low, _ in true), max(high for _, high in true)
        self.alignment = max(kind.alignment for _, _, kind in self._parts)

    def pad(self) -> None:
        """Extend the extent to a multiple of the alignment, as compilers do with structs."""
        if past := int(math.fmod(self.extent, self.alignment)):
            self.upper += self.alignment - past

    def _listed(self) -> Pieces:
        listed = []
        for length, place, kind in self._parts:
            block = repeated_pieces(kind.pieces, length, kind.extent)
            listed.append(block + np.array([place, 0]))
            _check_number(sum(map(len, listed)))
        return np.concatenate(listed)

    def _elements_of_part(self, size: int) -> int:
        found = 0
        for length, _, kind in self._parts:
            if size < length * kind.size:
                return found + kind.elements_in(size)
            size -= length * kind.size
            found += length * kind.elements
        return found

    def _size_of_part(self, elements: int) -> int:
        found = 0
        for length, _, kind in self._parts:
            if elements < length * kind.elements:
                return found + kind.size_of(elements)
            elements -= length * kind.elements
            found += length * kind.size
        return found


def _bounds(length: int, place: int, kind: Shape) -> tuple[int, int]:
    """Return the bounds of one block."""
    last = kind.extent * (length - 1)
    low = place + kind.lower + (0 if kind.extent > 0 else last)
    return low, place + kind.upper + (last if kind.extent > 0 else 0)


def _true_bounds(shape: Shape, child: Shape) -> None:
    shape.true_lower = shape.lower - child.lower + child.true_lower
    shape.true_upper = shape.upper - child.upper + child.true_upper


def _check_number(pieces: int) -> None:
    if pieces > MOST_PIECES:
        cause = f"the datatype has more than {MOST_PIECES} pieces of memory"
        raise Misuse(ErrorClass.INTERN, cause, "use a type of larger blocks")


def repeated_pieces(pieces: Pieces, count: int, stride: int) -> Pieces:
    """Return the pieces of `count` elements whose offsets differ by `stride`."""
    if len(pieces) == 1 and pieces[0, 1] == stride and count:
        return np.array([[pieces[0, 0], stride * count]], np.int64)
    _check_number(len(pieces) * count)
    starts = np.arange(count, dtype=np.int64)[:, None] * stride + pieces[None, :, 0]
    return np.stack([starts.ravel(), np.tile(pieces[:, 1], count)], axis=1)


def merged(pieces: Pieces) -> Pieces:
    """Return the pieces without empty pieces, with adjacent pieces joined."""
    pieces = pieces[pieces[:, 1] > 0]
    if len(pieces) < 2:
        return pieces
    first = np.flatnonzero(np.concatenate([[True], pieces[1:, 0] != pieces[:-1].sum(axis=1)]))
    return np.stack([pieces[first, 0], np.add.reduceat(pieces[:, 1], first)], axis=1)


def spread(pieces: Pieces, data: bytes) -> tuple[int, bytes]:
    """Return an array with the data at its pieces, and the offset of its first byte, a multiple of 16."""
    start = int(pieces[:, 0].min(initial=0)) // 16 * 16
    array = np.zeros(int(pieces.sum(axis=1).max(initial=0)) - start, np.uint8)
    array[_index(pieces) - start] = np.frombuffer(data, np.uint8)
    return start, array.tobytes()


def collected(pieces: Pieces, start: int, array: bytes) -> bytes:
    """Return the data of an array of `spread`."""
    return np.frombuffer(array, np.uint8)[_index(pieces) - start].tobytes()


def _index(pieces: Pieces) -> Pieces:
    """Return the offset of every byte."""
    ends = pieces[:, 1].cumsum()
    return np.repeat(pieces[:, 0] - ends + pieces[:, 1], pieces[:, 1]) + np.arange(ends[-1] if len(ends) else 0)


# ---- constructors


def contiguous(kind: Shape, count: int) -> Shape:
    """Return the shape of `MPI_Type_contiguous`."""
    return hvector(kind, 1, count, 0) if count else EMPTY


def hvector(kind: Shape, count: int, length: int, stride: int) -> Shape:
    """Return the shape of `MPI_Type_create_hvector`; `stride` is in bytes."""
    if not count or not kind.size:
        return EMPTY
    if count == 1 and length == 1:
        return kind
    return _Strided(kind, count, length, stride)


def hindexed_block(kind: Shape, length: int, places: Sequence[int]) -> Shape:
    """Return the shape of `MPI_Type_create_hindexed_block`; `places` are in bytes."""
    if not places or not kind.size:
        return EMPTY
    strides = {after - before for before, after in itertools.pairwise(places)}
    if places[0] == 0 and len(strides) < 2:
        return hvector(kind, len(places), length, strides.pop() if strides else 0)
    if length:
        return _Sequence([(length, place, kind) for place in places])
    low, high = _bounds(0, 0, kind)
    bounds = Basic([], 0, kind.alignment)
    bounds.lower, bounds.upper = low + min(places), high + max(places)
    _true_bounds(bounds, kind)
    return bounds


def hindexed(kind: Shape, lengths: Sequence[int], places: Sequence[int]) -> Shape:
    """Return the shape of `MPI_Type_create_hindexed`; `places` are in bytes."""
    if not kind.size or not any(lengths):
        return EMPTY
    if len(set(lengths)) == 1:
        return hindexed_block(kind, lengths[0], places)
    return _Sequence([(length, place, kind) for length, place in zip(lengths, places, strict=True)])


def struct(lengths: Sequence[int], places: Sequence[int], kinds: Sequence[Shape]) -> Shape:
    """Return the shape of `MPI_Type_create_struct`, padded to the strictest alignment if types differ."""
    if not any(length * kind.size for length, kind in zip(lengths, kinds, strict=True)):
        return EMPTY
    if len(set(map(id, kinds))) == 1:
        return hindexed(kinds[0], lengths, places)
    made = _Sequence(list(zip(lengths, places, kinds, strict=True)))
    made.pad()
    return made


def resized(kind: Shape, lower: int, extent: int) -> Shape:
    """Return the shape of `MPI_Type_create_resized`."""
    return kind if (kind.lower, kind.extent) == (lower, extent) else _Resized(kind, lower, extent)


def subarray(kind: Shape, sizes: Sequence[int], parts: Sequence[int], starts: Sequence[int], order: Order) -> Shape:
    """Return the shape of `MPI_Type_create_subarray`."""
    axes = list(zip(sizes, parts, starts, strict=True))
    if order is Order.C:
        axes.reverse()
    made, extent, place = contiguous(kind, axes[0][1]), kind.extent, 0
    for number, (whole, part, start) in enumerate(axes):
        if number:
            made = hvector(made, part, 1, extent)
        place += start * extent
        extent *= whole
    return resized(hindexed_block(made, 1, [place]), 0, extent)


def darray(
    kind: Shape,
    rank: int,
    sizes: Sequence[int],
    distributions: Sequence[Distribution],
    arguments: Sequence[int],
    grid: Sequence[int],
    order: Order,
) -> Shape:
    """Return the part of a rank of `MPI_Type_create_darray`. Raises Misuse.

    Consecutive ranks differ in the last dimension of the grid.
    """
    axes = list(zip(sizes, distributions, arguments, grid, np.unravel_index(rank, tuple(grid)), strict=True))
    if order is Order.C:
        axes.reverse()
    made, stride, place = kind, kind.extent, 0
    for number, (whole, how, argument, processes, coordinate) in enumerate(axes):
        at, extent = int(coordinate), made.extent * whole
        if how is Distribution.CYCLIC:
            made, start = _cyclic(made, whole, argument, processes, at, stride)
            if number == 0:
                made, start = resized(hindexed_block(made, 1, [start * stride]), 0, extent), 0
        else:
            made, start = _block(made, whole, argument, processes, at, stride if number else None)
        made = resized(made, 0, extent)
        place += start * stride
        stride *= whole
    return resized(hindexed_block(made, 1, [place]), 0, stride)


def _block(kind: Shape, whole: int, argument: int, processes: int, at: int, stride: int | None) -> tuple[Shape, int]:
    """Return the part of one process in a block distribution, and its first index; contiguous without a stride."""
    block = -(-whole // processes) if argument == DEFAULT_ARGUMENT else argument
    if block < 1 or block * processes < whole:
        cause = f"{processes} blocks of {block} do not hold {whole} elements"
        raise Misuse(ErrorClass.ARG, cause, "give larger blocks, or MPI_DISTRIBUTE_DFLT_DARG")
    own = max(min(block, whole - block * at), 0)
    made = contiguous(kind, own) if stride is None else hvector(kind, own, 1, stride)
    return made, block * at if own else 0


def _cyclic(kind: Shape, whole: int, argument: int, processes: int, at: int, stride: int) -> tuple[Shape, int]:
    """Return the part of one process in a cyclic distribution, and its first index."""
    block = 1 if argument == DEFAULT_ARGUMENT else argument
    if block < 1:
        raise Misuse(ErrorClass.ARG, f"a block has {block} elements", "give 1 or more, or MPI_DISTRIBUTE_DFLT_DARG")
    cycles, left = divmod(max(whole - at * block, 0), processes * block)
    count, rest = divmod(cycles * block + min(left, block), block)
    made = hvector(kind, count, block, stride * processes * block)
    if rest:
        made = struct([1, rest], [0, count * stride * processes * block], [made, kind])
    return made, at * block if count or rest else 0
