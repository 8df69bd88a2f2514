"""Faults on the wires of the machine: drop, corrupt, delay, reorder or double the n-th packet on a path, or any one.

A packet that is reordered is held aside at the end of its path, whole and unharmed, until its time has come; those
behind it pass. Then it enters the last output like any other packet. A doubled one passes, and its copy is held aside.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

from pymodels.topology import End


class FaultKind(IntEnum):
    """What happens to the packet."""

    DROP = 1
    CORRUPT = 2
    DELAY = 3
    REORDER = 4
    DOUBLE = 5


ASIDE_PS = 20_000_000
"""How long a packet stands aside where nobody says it: some messages pass."""
BY_CHANCE = (FaultKind.DROP, FaultKind.CORRUPT, FaultKind.REORDER, FaultKind.DOUBLE)
"""What can happen to any packet, in the order of `Faults.lose`."""


@dataclass(frozen=True)
class Fault:
    """One fault. `offset` counts bytes after the route (type = 0); `mask` is XOR-ed in; `delay` is in picoseconds: of a
    packet that is reordered or doubled, until it, or its copy, goes on.
    """

    kind: FaultKind
    offset: int = 0
    mask: int = 0
    delay: int = 0


class Faults:
    """The faults to come, by path (source VNN, destination VNN) and number of the packet on it, counted from 0."""

    def __init__(self) -> None:
        self._plan: dict[tuple[int, int, int], list[Fault]] = {}
        self._seen: dict[tuple[int, int], int] = {}
        self.injected = 0
        """Faults that took effect."""
        self._chances: tuple[float, ...] = ()
        """Of what can happen to any packet."""
        self._late: dict[End, int] = {}
        self._most_ps = ASIDE_PS
        self._random = random.Random()

    def drop(self, source: int, destination: int, number: int) -> None:
        """The packet vanishes in the first switch."""
        self._add(source, destination, number, Fault(FaultKind.DROP))

    def corrupt(self, source: int, destination: int, number: int, offset: int = 0, mask: int = 0x01) -> None:
        """A byte of the packet is XOR-ed with `mask`; offset 0 is the first type byte, the last one the CRC."""
        if not 1 <= mask <= 0xFF or offset < 0:
            raise ValueError(f"corrupt: mask {mask:#x} must be 0x01..0xff and offset {offset} not negative")
        self._add(source, destination, number, Fault(FaultKind.CORRUPT, offset=offset, mask=mask))

    def delay(self, source: int, destination: int, number: int, by_ps: int) -> None:
        """The packet, and all behind it, waits `by_ps` longer in the first switch."""
        self._add(source, destination, number, Fault(FaultKind.DELAY, delay=by_ps))

    def reorder(self, source: int, destination: int, number: int, by_ps: int = ASIDE_PS) -> None:
        """The packet stands aside for `by_ps`; those behind it pass."""
        self._add(source, destination, number, Fault(FaultKind.REORDER, delay=by_ps))

    def double(self, source: int, destination: int, number: int, by_ps: int = 0) -> None:
        """The packet passes, and a copy of it `by_ps` later."""
        self._add(source, destination, number, Fault(FaultKind.DOUBLE, delay=by_ps))

    def lose(
        self,
        loss: float,
        damage: float = 0.0,
        seed: int = 0,
        *,
        reordered: float = 0.0,
        doubled: float = 0.0,
        most_ps: int = ASIDE_PS,
    ) -> None:
        """From now on each packet, on whatever path, vanishes, has one bit flipped, is passed by others or comes twice,
        with these probabilities; for the last two, `most_ps` is the longest time aside.
        """
        chances = (loss, damage, reordered, doubled)
        self._chances = chances if any(chances) else ()
        self._most_ps = most_ps
        self._random = random.Random(seed)

    def packet(self, source: int, destination: int) -> list[Fault]:
        """The faults of the packet that passes now. Called once a packet, by the network."""
        number = self._seen.get((source, destination), 0)
        self._seen[source, destination] = number + 1
        faults = self._plan.pop((source, destination, number), []) if self._plan else []
        if self._chances:
            faults = faults + self._drawn()
        self.injected += len(faults)
        return faults

    def _drawn(self) -> list[Fault]:
        luck = self._random.random()
        for kind, chance in zip(BY_CHANCE, self._chances, strict=True):
            if luck < chance:
                return [self._fault(kind)]
            luck -= chance
        return []

    def _fault(self, kind: FaultKind) -> Fault:
        if kind is FaultKind.CORRUPT:  # every packet has at least nine bytes
            offset = self._random.randrange(9 if self._random.random() < 0.5 else 200)
            return Fault(kind, offset, 1 << self._random.randrange(8))
        return Fault(kind, delay=0 if kind is FaultKind.DROP else self._random.randrange(self._most_ps))

    def delay_into(self, port: End, by_ps: int) -> None:
        """From now on what enters this port comes so much later; packets on other routes pass it. ValueError for a
        delay that is not positive.
        """
        if by_ps <= 0:
            raise ValueError(f"a delay of {by_ps} ps into {port}: it must be positive")
        self._late[port] = by_ps

    def on_way(self, ports: Iterable[End]) -> list[Fault]:
        """What a packet meets that enters these ports: it stands aside for the delays of all of them."""
        late = sum(self._late.get(port, 0) for port in ports) if self._late else 0
        return [Fault(FaultKind.REORDER, delay=late)] if late else []

    def passed(self, source: int, destination: int) -> int:
        """How many packets have gone along this path: the number of the next one."""
        return self._seen.get((source, destination), 0)

    def _add(self, source: int, destination: int, number: int, fault: Fault) -> None:
        self._plan.setdefault((source, destination, number), []).append(fault)
