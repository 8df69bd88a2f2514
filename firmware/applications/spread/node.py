"""What a program has on each node, and what a program is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from firmware.split_c.host import SplitC

Array = np.ndarray[Any, Any]


class Node:
    """A node of a program. `mops`: operations that its processor does in a microsecond (an assumption)."""

    def __init__(self, split_c: SplitC, mops: float) -> None:
        self.c, self.mops = split_c, mops
        self.me, self.nodes = split_c.me, split_c.nodes
        self.computed_ns = 0.0

    async def compute(self, operations: float) -> None:
        """Use the CPU for so many operations; numpy does them meanwhile, in no simulated time."""
        ns = operations / self.mops * 1000
        self.computed_ns += ns
        await self.c.compute(ns)

    def share(self, count: int, node: int | None = None) -> range:
        """The part of `count` equal things that is a node's, this one's if none is named; they follow one another."""
        me = self.me if node is None else node
        return range(me * count // self.nodes, (me + 1) * count // self.nodes)


@dataclass(frozen=True)
class Program:
    """What all nodes run, and the same done by one processor with all of the data."""

    run: Callable[[Node, int, int], Awaitable[Array]]
    """Of a size and seed: this node's part of the result; the parts of all, joined by node, are the result."""
    alone: Callable[[int, int], Array]
