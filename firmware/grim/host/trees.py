"""Multicast trees on the host: their names, and, at a tree's owner, its changes (paper 003, C.6.1).

Node 0 keeps the names, as it keeps those of handlers: number and owner of each tree. The owner is the node that asked
for the name first; it is the root, and knows the members. The position of a node follows from the root alone: all nodes
of the cluster are a heap in the order of their VNN from the root on, and branches without members are left out. So
whoever subscribes and unsubscribes, messages for a node always take the same way, and none overtakes another. A change
is told from the leaves up: when a NI begins to forward, those below it know their places.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

CHILDREN = 2
"""Most copies of a message that a NI makes (ours)."""


def places(root: int, members: Mapping[int, int], nodes: int) -> dict[int, int]:
    """By VNN, the leaves first: the place of every NI in a tree, the word PLACE of its record
    (`firmware.grim.nic.layout.Tree`). `members`: subscribed channels by VNN.
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
    """What node 0 knows of a tree."""

    tree: int
    owner: int
    planted: bool = False
    """The owner's NI knows the tree."""
    waiting: list[tuple[int, int]] = field(default_factory=list)
    """Who asked before: source endpoint, number of the question."""


@dataclass(frozen=True)
class Change:
    """A requested change: channels of a node that subscribe and unsubscribe."""

    source: int
    question: int
    vnn: int
    more: int
    fewer: int


class Owned:
    """A tree at its owner: members, changes that wait, the places that must still be told for the first of them."""

    def __init__(self, root: int, nodes: int) -> None:
        self.root = root
        self.members: dict[int, int] = {}
        """Subscribed channels by VNN."""
        self.changes: deque[Change] = deque()
        self.untold: deque[tuple[int, int]] = deque()
        """VNN and place, in order."""
        self._nodes = nodes

    def begin(self) -> Change | None:
        """Make the change at the front; None when there is none."""
        if not self.changes:
            return None
        change = self.changes[0]
        old = places(self.root, self.members, self._nodes)
        self.members[change.vnn] = self.members.get(change.vnn, 0) & ~change.fewer | change.more
        new = places(self.root, self.members, self._nodes)
        self.untold.extend((vnn, place) for vnn, place in new.items() if place != old[vnn])
        return change
