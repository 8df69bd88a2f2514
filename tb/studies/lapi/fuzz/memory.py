"""What must stand in the memory of tasks: bytes that puts, gets and active messages may have left, words of `Rmw`.

Each task has a slice of its own at every other one, so what two tasks do never meets, but for `Rmw`. Two writes of one
task to one place may come in either order, unless a fence stands between them: then the later one stands there.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]


@dataclass
class Slice:
    """Bytes that one task writes. `fence` begins a new epoch."""

    size: int
    epoch: int = 0
    writes: list[tuple[int, int, Bytes]] = field(default_factory=list)
    """Epoch, place, bytes."""

    def write(self, at: int, data: bytes) -> None:
        """Bytes are to be written."""
        if data:
            self.writes.append((self.epoch, at, np.frombuffer(data, np.uint8)))

    def wrong(self, found: bytes) -> int | None:
        """The first byte that no order of the writes leaves; None: all are right."""
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
    """The words of one task that all may change by `Rmw`: each by one operation only."""

    made: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    """By operation: what was given, and the old value that came back."""

    def note(self, name: str, given: int, before: int) -> None:
        """One `Rmw` and its answer."""
        self.made.setdefault(name, []).append((given, before))

    def wrong(self, name: str, now: int) -> str | None:
        """Whether no order of these operations leaves this word and these answers."""
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
