"""Expected memory of tasks: bytes that puts, gets and active messages may have left, and words of `Rmw`.

Each task has its own slice at every other task, so only `Rmw` calls of different tasks interact. Two writes of a task
to the same bytes may take effect in either order, unless a fence separates them. Then the later one must prevail.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]


@dataclass
class Slice:
    """Bytes written by one task; `fence` begins a new epoch."""

    size: int
    epoch: int = 0
    writes: list[tuple[int, int, Bytes]] = field(default_factory=list)
    """Epoch, offset and bytes of each write."""

    def write(self, at: int, data: bytes) -> None:
        """Record a write."""
        if data:
            self.writes.append((self.epoch, at, np.frombuffer(data, np.uint8)))

    def wrong(self, found: bytes) -> int | None:
        """Return the offset of the first byte that no order of the writes explains, or None."""
        here, good = np.frombuffer(found, np.uint8), np.zeros(self.size, bool)
        last = np.full(self.size, -1)
        for epoch, at, data in self.writes:
            last[at : at + len(data)] = epoch
        good[last < 0] = here[last < 0] == 0
        for epoch, at, data in self.writes:
            part = slice(at, at + len(data))
            good[part] |= (last[part] == epoch) & (here[part] == data)
        bad = np.flatnonzero(~good)
        return int(bad[0]) if len(bad) else None


@dataclass
class Words:
    """Words of one task that all tasks may change by `Rmw`, each by a single operation."""

    made: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    """Operands and returned old values, by operation."""

    def note(self, name: str, given: int, before: int) -> None:
        """Record an `Rmw` and its reply."""
        self.made.setdefault(name, []).append((given, before))

    def wrong(self, name: str, now: int) -> str | None:
        """Return a description if no order of the operations explains word and replies, or None."""
        made = self.made.get(name, [])
        given, before = [one for one, _ in made], [one for _, one in made]
        if name == "FETCH_AND_ADD":
            ends = Counter([0, *(old + add for add, old in made)])
            right = ends == Counter([*before, now])
        elif name == "SWAP":
            right = Counter([0, *given]) == Counter([*before, now])
        elif name == "FETCH_AND_OR":
            united = int(np.bitwise_or.reduce(given)) if given else 0
            right = now == united and all(old & ~united == 0 for old in before)
        else:  # COMPARE_AND_SWAP with 0: the first one wins
            right = (now in given and sorted(before) == sorted([0] + [now] * (len(made) - 1))) if made else now == 0
        return None if right else f"{name}: {now:#x} after {made}"
