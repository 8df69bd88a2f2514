"""Faults on the wires of the machine: drop, corrupt or delay the n-th packet on a path."""

from __future__ import annotations

import random
from dataclasses import dataclass
from enum import IntEnum


class FaultKind(IntEnum):
    """What happens to the packet."""

    DROP = 1
    CORRUPT = 2
    DELAY = 3


@dataclass(frozen=True)
class Fault:
    """One fault. `offset` counts bytes after the route (type = 0); `mask` is XOR-ed in; `delay` is in picoseconds."""

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
        self._loss = self._damage = 0.0
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

    def lose(self, loss: float, damage: float = 0.0, seed: int = 0) -> None:
        """From now on each packet, on whatever path, vanishes or has one bit flipped, with these probabilities."""
        self._loss, self._damage = loss, damage
        self._random = random.Random(seed)

    def packet(self, source: int, destination: int) -> list[Fault]:
        """The faults of the packet that passes now. Called once a packet, by the network."""
        number = self._seen.get((source, destination), 0)
        self._seen[source, destination] = number + 1
        faults = self._plan.pop((source, destination, number), []) if self._plan else []
        if self._loss or self._damage:
            faults = faults + self._drawn()
        self.injected += len(faults)
        return faults

    def _drawn(self) -> list[Fault]:
        luck = self._random.random()
        if luck < self._loss:
            return [Fault(FaultKind.DROP)]
        if luck < self._loss + self._damage:  # every packet has at least nine bytes
            offset = self._random.randrange(9 if self._random.random() < 0.5 else 200)
            return [Fault(FaultKind.CORRUPT, offset, 1 << self._random.randrange(8))]
        return []

    def passed(self, source: int, destination: int) -> int:
        """How many packets have gone along this path: the number of the next one."""
        return self._seen.get((source, destination), 0)

    def _add(self, source: int, destination: int, number: int, fault: Fault) -> None:
        self._plan.setdefault((source, destination, number), []).append(fault)
