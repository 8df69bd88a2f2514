"""Global pointers and spread arrays: where data are in the memory of all nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from firmware.split_c.host.errors import SplitCError

SIZES = (4, 8)
"""Bytes of an element: one word, or two."""


@dataclass(frozen=True)
class Global:
    """A pointer to an element of some node's heap."""

    node: int
    at: int
    """Bytes from the beginning of the heap."""
    dtype: np.dtype[Any]

    def __add__(self, elements: int) -> Global:
        """So many elements further on the same node."""
        return Global(self.node, self.at + elements * self.dtype.itemsize, self.dtype)


@dataclass(frozen=True)
class Spread:
    """An array that is dealt to the nodes block by block, first to node 0. Parts stand at one place on all nodes."""

    count: int
    """Elements."""
    block: int
    """Elements of a block."""
    nodes: int
    at: int
    """Bytes from the beginning of every heap."""
    dtype: np.dtype[Any]

    @property
    def most(self) -> int:
        """Elements of a node's part, with those that fill its last block."""
        return self.block * -(-self.count // (self.block * self.nodes))

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Global:
        """A pointer to an element. Raises SplitCError."""
        if not 0 <= index < self.count:
            raise SplitCError(f"element {index!r} of a spread array", "it is not there", f"0 to {self.count - 1}")
        block, within = divmod(index, self.block)
        round_, node = divmod(block, self.nodes)
        return self.part(node) + (round_ * self.block + within)

    def part(self, node: int) -> Global:
        """A pointer to the first element of a node's part."""
        return Global(node, self.at, self.dtype)


def element(dtype: Any) -> np.dtype[Any]:
    """The type of elements. Raises SplitCError for one that is not one word, or two."""
    try:
        kind: np.dtype[Any] = np.dtype(dtype)
    except TypeError:
        raise SplitCError(f"type {dtype!r}", "numpy does not know it", "give a number's, such as float64") from None
    if kind.itemsize not in SIZES or kind.kind not in "iuf":
        raise SplitCError(f"type {kind}", "an element is a number of 4 or 8 bytes", "give one such as float64")
    return kind
