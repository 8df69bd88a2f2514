"""Datatypes: byte offsets of an element's data in a buffer.

A type is a list of blocks and an extent, the distance from one element to the next. A block has an offset and a length;
blocks are in the order of sending. All sizes are in bytes unless they count elements.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firmware.mpi.host.errors import ErrorClass, Misuse

Block = tuple[int, int]
"""Offset and length of a block in bytes."""
Calling = Callable[[str], AbstractContextManager[None]]
"""Context manager of a call by its name, such as `Engine.calling`."""


def no_call(call: str) -> AbstractContextManager[None]:
    """Return a context for calls that belong to no rank."""
    return nullcontext()


def whole(what: str, value: Any, error_class: ErrorClass = ErrorClass.ARG, least: int = 0) -> int:
    """Return an integer not below `least`. Raises Misuse."""
    try:
        number = operator.index(value)
    except TypeError:
        raise Misuse(error_class, f"{what} {value!r} is not an integer", "give an integer") from None
    if number < least:
        raise Misuse(error_class, f"{what} is {number}", f"give {least} or more")
    return number


class Datatype:
    """Datatype; those of the standard are in `BASIC`. Derived ones must be committed before use."""

    def __init__(
        self,
        name: str,
        blocks: Sequence[Block],
        extent: int,
        base: np.dtype[Any] | None = None,
        calling: Calling = no_call,
    ) -> None:
        """Create a datatype; `base` is numpy's type of all elements or None, `calling` the call context of its rank."""
        self.name, self.extent, self.base, self._calling = name, extent, base, calling
        self.blocks = _joined(blocks)
        self.size = sum(length for _, length in self.blocks)
        self.committed = False
        self.basic = False

    def __repr__(self) -> str:
        return f"<Datatype {self.name}>"

    def bound(self, calling: Calling) -> Datatype:
        """Return the datatype bound to a rank."""
        made = Datatype(self.name, self.blocks, self.extent, self.base, calling)
        made.committed, made.basic = self.committed, self.basic
        return made

    def Get_size(self) -> int:
        """Return the data bytes of an element (`MPI_Type_size`)."""
        return self.size

    def Get_extent(self) -> tuple[int, int]:
        """Return lower bound (0) and extent in bytes (`MPI_Type_get_extent`)."""
        return 0, self.extent

    def Commit(self) -> Datatype:
        """Make the datatype usable and return it (`MPI_Type_commit`)."""
        self.committed = True
        return self

    def Free(self) -> None:
        """Release the datatype (`MPI_Type_free`). Raises MpiError for a type of the standard."""
        with self._calling("MPI_Type_free"):
            if self.basic:
                raise Misuse(ErrorClass.TYPE, f"{self.name} is a type of the standard", "free derived types only")
            self.committed = False

    def Create_contiguous(self, count: int) -> Datatype:
        """Return a type of `count` consecutive elements (`MPI_Type_contiguous`)."""
        with self._calling("MPI_Type_contiguous"):
            return self._indexed([whole("count", count, ErrorClass.COUNT)], [0])

    def Create_vector(self, count: int, blocklength: int, stride: int) -> Datatype:
        """Return a type of equally spaced blocks (`MPI_Type_vector`).

        Args:
            count: number of blocks.
            blocklength: elements of a block.
            stride: elements between the starts of two blocks.
        """
        with self._calling("MPI_Type_vector"):
            count, stride = whole("count", count, ErrorClass.COUNT), whole("stride", stride)
            return self._indexed([blocklength] * count, [stride * at for at in range(count)])

    def Create_indexed(self, blocklengths: Sequence[int], displacements: Sequence[int]) -> Datatype:
        """Return a type of blocks with lengths and displacements in elements (`MPI_Type_indexed`)."""
        with self._calling("MPI_Type_indexed"):
            return self._indexed(blocklengths, displacements)

    def _indexed(self, blocklengths: Sequence[int], displacements: Sequence[int]) -> Datatype:
        _same_length(blocklengths, displacements)
        at = [whole("displacement", one) * self.extent for one in displacements]
        return struct(blocklengths, at, [self] * len(at), f"blocks of {self.name}", self._calling)

    @staticmethod
    def Create_struct(
        blocklengths: Sequence[int], displacements: Sequence[int], datatypes: Sequence[Datatype]
    ) -> Datatype:
        """Return a type of blocks of several types, with displacements in bytes (`MPI_Type_create_struct`).

        The extent ends with the last element.
        """
        calling = datatypes[0]._calling if datatypes else no_call
        with calling("MPI_Type_create_struct"):
            return struct(blocklengths, displacements, datatypes, "a struct", calling)

    def index(self, count: int) -> NDArray[np.intp]:
        """Return the byte offsets of `count` elements, in the order of sending."""
        one = np.concatenate([np.arange(at, at + length) for at, length in self.blocks] or [np.zeros(0, np.intp)])
        elements: NDArray[np.intp] = np.arange(count)[:, None] * self.extent + one[None, :]
        return elements.ravel()

    def span(self, count: int) -> int:
        """Return the bytes from the start of the first element to the last byte of the last one."""
        end = max((at + length for at, length in self.blocks), default=0)
        return (count - 1) * self.extent + end if count else 0

    @property
    def contiguous(self) -> bool:
        """True if elements are contiguous."""
        return self.blocks in ([(0, self.extent)], []) and self.size == self.extent

    @property
    def dense(self) -> bool:
        """True if the buffers of this type have no gaps."""
        return self.contiguous

    @property
    def pieces(self) -> int:
        """Number of separate pieces of an element."""
        return len(self.blocks)


class Gathered(Datatype):
    """Datatype whose buffers hold the data without gaps, although the application's elements have gaps.

    Costs are charged for the application's elements.
    """

    def __init__(self, name: str, size: int, base: np.dtype[Any], elsewhere: Callable[[], tuple[bool, int]]) -> None:
        """Create the type; `elsewhere` returns whether the application's elements are contiguous, and the pieces of
        each.
        """
        super().__init__(name, [(0, size)], size, base)
        self._elsewhere = elsewhere

    @property
    def contiguous(self) -> bool:
        """True if the application's elements are contiguous."""
        return self._elsewhere()[0]

    @property
    def pieces(self) -> int:
        """Number of separate pieces of an application's element."""
        return self._elsewhere()[1]

    @property
    def dense(self) -> bool:
        """True: the buffers have no gaps."""
        return True


def struct(
    blocklengths: Sequence[int], displacements: Sequence[int], types: Sequence[Datatype], name: str, calling: Calling
) -> Datatype:
    """Return a struct type within a call. Raises Misuse."""
    _same_length(blocklengths, displacements, types)
    blocks: list[Block] = []
    extent = 0
    for length, at, kind in zip(blocklengths, displacements, types, strict=True):
        count, begin = whole("blocklength", length), whole("displacement", at)
        for element in range(count):
            start = begin + element * kind.extent
            blocks += [(start + offset, size) for offset, size in kind.blocks]
        extent = max(extent, begin + count * kind.extent)
    bases = {kind.base for kind in types}
    return Datatype(name, blocks, extent, bases.pop() if len(bases) == 1 else None, calling)


def _same_length(*lists: Sequence[Any]) -> None:
    if len({len(one) for one in lists}) > 1:
        lengths = ", ".join(str(len(one)) for one in lists)
        raise Misuse(ErrorClass.ARG, f"lists of {lengths} entries", "give each block one entry in each list")


def _joined(blocks: Sequence[Block]) -> list[Block]:
    """Return the blocks with adjoining ones merged."""
    found: list[Block] = []
    for at, length in blocks:
        if found and sum(found[-1]) == at:
            found[-1] = found[-1][0], found[-1][1] + length
        elif length:
            found.append((at, length))
    return found


def _basic(name: str, kind: str) -> Datatype:
    base = np.dtype(kind)
    made = Datatype(name, [(0, base.itemsize)], base.itemsize, base).Commit()
    made.basic = True
    return made


BASIC = {
    name: _basic(f"MPI_{name}", kind)
    for name, kind in (
        ("BYTE", "u1"),
        ("CHAR", "S1"),
        ("SIGNED_CHAR", "i1"),
        ("UNSIGNED_CHAR", "u1"),
        ("SHORT", "<i2"),
        ("UNSIGNED_SHORT", "<u2"),
        ("INT", "<i4"),
        ("UNSIGNED", "<u4"),
        ("LONG_LONG", "<i8"),
        ("UNSIGNED_LONG_LONG", "<u8"),
        ("FLOAT", "<f4"),
        ("DOUBLE", "<f8"),
        ("C_BOOL", "?"),
        ("C_FLOAT_COMPLEX", "<c8"),
        ("C_DOUBLE_COMPLEX", "<c16"),
    )
}
BYTE = BASIC["BYTE"]
OF_NUMPY = {kind.base: kind for kind in reversed(BASIC.values())}
"""Datatype of the standard by numpy type."""
