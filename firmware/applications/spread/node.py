"""Node of a Split-C program, and the interface of a program."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from firmware.split_c.host import SplitC

Array = np.ndarray[Any, Any]


class Node:
    """Node of a program; `mops` is its processor's number of operations in a microsecond (an assumption)."""

    def __init__(self, split_c: SplitC, mops: float) -> None:
        self.c, self.mops = split_c, mops
        self.me, self.nodes = split_c.me, split_c.nodes
        self.computed_ns = 0.0

    async def compute(self, operations: float) -> None:
        """Compute for a number of operations; numpy does them in no simulated time."""
        ns = operations / self.mops * 1000
        self.computed_ns += ns
        await self.c.compute(ns)

    def share(self, count: int, node: int | None = None) -> range:
        """Return a node's part of `count` equal items, this node's by default; the parts are ordered by node."""
        me = self.me if node is None else node
        return range(me * count // self.nodes, (me + 1) * count // self.nodes)


@dataclass(frozen=True)
class Program:
    """Program of all nodes, and the same computation by one processor."""

    run: Callable[[Node, int, int], Awaitable[Array]]
    """Function of one node, a size and a seed; returns its part of the result, to be joined by node."""
    alone: Callable[[int, int], Array]
