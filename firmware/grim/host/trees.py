"""Multicast trees on the host: their names and, at a tree's owner, its changes (paper 003, C.6.1).

Node 0 keeps the names, as it keeps those of handlers: number and owner of each tree. The owner is the node that first
requested the name; it is the root, and knows the members. A node's position follows from the root alone: all nodes of
the cluster are a heap in the order of their VNNs from the root on, and branches without members are omitted. So
messages for a node take the same path whatever other nodes subscribe, and none overtakes another. A change is
distributed from the leaves up: when a NI begins to forward, its descendants know their positions.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

CHILDREN = 2
"""Maximum number of copies of a message that a NI makes (ours)."""


def places(root: int, members: Mapping[int, int], nodes: int) -> dict[int, int]:
    """Return the PLACE word of every NI in a tree (`firmware.grim.nic.layout.Tree`), by VNN, the leaves first.

    Args:
        root: VNN of the root.
        members: Bit mask of subscribed channels, by VNN.
        nodes: Number of nodes in the cluster.
    """
    words: dict[int, int] = {}
    used = [False] * nodes
    for i in reversed(range(nodes)):
        vnn = (root + i) % nodes
        first = CHILDREN * i + 1
        below = [(root + j) % nodes for j in range(first, min(first + CHILDREN, nodes)) if used[j]]
        used[i] = bool(below) or members.get(vnn, 0) > 0
        one, other = (below + [vnn] * CHILDREN)[:CHILDREN]
        words[vnn] = root << 24 | one << 16 | other << 8 | members.get(vnn, 0)
    return words


@dataclass
class Name:
    """Entry of a tree in node 0's database."""

    tree: int
    owner: int
    planted: bool = False
    """True once the owner's NI knows the tree."""
    waiting: list[tuple[int, int]] = field(default_factory=list)
    """Requests that arrived before: source endpoint and request number."""


@dataclass(frozen=True)
class Change:
    """Requested change: channels of a node to subscribe (`more`) and to unsubscribe (`fewer`)."""

    source: int
    question: int
    vnn: int
    more: int
    fewer: int


class Owned:
    """Tree at its owner: members, pending changes, and the new positions to distribute for the first change."""

    def __init__(self, root: int, nodes: int) -> None:
        self.root = root
        self.members: dict[int, int] = {}
        """Bit mask of subscribed channels, by VNN."""
        self.changes: deque[Change] = deque()
        self.untold: deque[tuple[int, int]] = deque()
        """VNN and PLACE word of each position to distribute, in order."""
        self._nodes = nodes

    def begin(self) -> Change | None:
        """Start and return the first pending change, or return None."""
        if not self.changes:
            return None
        change = self.changes[0]
        old = places(self.root, self.members, self._nodes)
        self.members[change.vnn] = self.members.get(change.vnn, 0) & ~change.fewer | change.more
        new = places(self.root, self.members, self._nodes)
        self.untold.extend((vnn, place) for vnn, place in new.items() if place != old[vnn])
        return change
