"""Global pointers and spread arrays: addresses in the memory of all nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from firmware.split_c.host.errors import SplitCError

SIZES = (4, 8)
"""Valid sizes of an element in bytes."""


@dataclass(frozen=True)
class Global:
    """Pointer to an element of some node's heap."""

    node: int
    at: int
    """Offset in the heap, bytes."""
    dtype: np.dtype[Any]

    def __add__(self, elements: int) -> Global:
        """Return a pointer `elements` further on the same node."""
        return Global(self.node, self.at + elements * self.dtype.itemsize, self.dtype)


@dataclass(frozen=True)
class Spread:
    """Array distributed to the nodes block by block, starting at node 0. Its parts have one offset on all nodes."""

    count: int
    """Number of elements."""
    block: int
    """Elements of a block."""
    nodes: int
    at: int
    """Offset in every heap, bytes."""
    dtype: np.dtype[Any]

    @property
    def most(self) -> int:
        """Elements of a node's part, padding of its last block included."""
        return self.block * -(-self.count // (self.block * self.nodes))

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Global:
        """Return a pointer to an element. Raises SplitCError."""
        if not 0 <= index < self.count:
            raise SplitCError(
                f"element {index!r} of a spread array", "index out of range", f"give 0 to {self.count - 1}"
            )
        block, within = divmod(index, self.block)
        round_, node = divmod(block, self.nodes)
        return self.part(node) + (round_ * self.block + within)

    def part(self, node: int) -> Global:
        """Return a pointer to the first element of a node's part."""
        return Global(node, self.at, self.dtype)


def element(dtype: Any) -> np.dtype[Any]:
    """Return the numpy type of an element. Raises SplitCError unless it is a number of 4 or 8 bytes."""
    try:
        kind: np.dtype[Any] = np.dtype(dtype)
    except TypeError:
        raise SplitCError(
            f"type {dtype!r}", "unknown numpy type", "give the type of a number, such as float64"
        ) from None
    if kind.itemsize not in SIZES or kind.kind not in "iuf":
        raise SplitCError(f"type {kind}", "an element is a number of 4 or 8 bytes", "give a type such as float64")
    return kind
