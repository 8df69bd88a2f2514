"""Fault injection on the wires of the machine: drop, corrupt, delay, reorder or duplicate chosen or random packets.

A reordered packet is held, complete and intact, at the end of its path until its time has come, while later packets
pass it. It then enters the last output like any other packet. A duplicated packet passes, and its copy is held.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

from pymodels.topology import End


class FaultKind(IntEnum):
    """Effect of a fault on a packet."""

    DROP = 1
    CORRUPT = 2
    DELAY = 3
    REORDER = 4
    DOUBLE = 5


ASIDE_PS = 20_000_000
"""Default time for which a reordered packet is held, in picoseconds: enough for some messages to pass."""
BY_CHANCE = (FaultKind.DROP, FaultKind.CORRUPT, FaultKind.REORDER, FaultKind.DOUBLE)
"""Random faults, in the order of the probabilities of `Faults.lose`."""


@dataclass(frozen=True)
class Fault:
    """Fault of one packet.

    Attributes:
        kind: Effect of the fault.
        offset: Byte after the route that is corrupted; 0 is the first type byte.
        mask: Value XOR-ed to that byte.
        delay: Delay in picoseconds; for a reordered or duplicated packet, the time for which it or its copy is held.
    """

    kind: FaultKind
    offset: int = 0
    mask: int = 0
    delay: int = 0


class Faults:
    """Pending faults, by path (source VNN, destination VNN) and number of the packet on it, counted from 0."""

    def __init__(self) -> None:
        self._plan: dict[tuple[int, int, int], list[Fault]] = {}
        self._seen: dict[tuple[int, int], int] = {}
        self.injected = 0
        """Number of faults that took effect."""
        self._chances: tuple[float, ...] = ()
        """Probabilities of random faults."""
        self._late: dict[End, int] = {}
        self._most_ps = ASIDE_PS
        self._random = random.Random()

    def drop(self, source: int, destination: int, number: int) -> None:
        """Make a packet vanish in the first switch."""
        self._add(source, destination, number, Fault(FaultKind.DROP))

    def corrupt(self, source: int, destination: int, number: int, offset: int = 0, mask: int = 0x01) -> None:
        """XOR a byte of a packet with `mask`; offset 0 is the first type byte, the last one the CRC."""
        if not 1 <= mask <= 0xFF or offset < 0:
            raise ValueError(f"corrupt: mask {mask:#x} must be 0x01..0xff and offset {offset} not negative")
        self._add(source, destination, number, Fault(FaultKind.CORRUPT, offset=offset, mask=mask))

    def delay(self, source: int, destination: int, number: int, by_ps: int) -> None:
        """Delay a packet, and all packets behind it, by `by_ps` in the first switch."""
        self._add(source, destination, number, Fault(FaultKind.DELAY, delay=by_ps))

    def reorder(self, source: int, destination: int, number: int, by_ps: int = ASIDE_PS) -> None:
        """Hold a packet for `by_ps` while later packets pass it."""
        self._add(source, destination, number, Fault(FaultKind.REORDER, delay=by_ps))

    def double(self, source: int, destination: int, number: int, by_ps: int = 0) -> None:
        """Deliver a copy of a packet `by_ps` after the packet itself."""
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
        """Inject random faults into all packets from now on.

        Args:
            loss: Probability that a packet vanishes.
            damage: Probability that one bit of a packet is flipped.
            seed: Seed of the random numbers.
            reordered: Probability that later packets pass a packet.
            doubled: Probability that a packet is duplicated.
            most_ps: Maximum time for which a reordered or duplicated packet is held.
        """
        chances = (loss, damage, reordered, doubled)
        self._chances = chances if any(chances) else ()
        self._most_ps = most_ps
        self._random = random.Random(seed)

    def packet(self, source: int, destination: int) -> list[Fault]:
        """Return the faults of the present packet on a path. The network calls this once for each packet."""
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
        """Delay everything that enters a port from now on; packets on other routes pass. Raises ValueError unless
        `by_ps` > 0.
        """
        if by_ps <= 0:
            raise ValueError(f"a delay of {by_ps} ps into {port}: it must be positive")
        self._late[port] = by_ps

    def on_way(self, ports: Iterable[End]) -> list[Fault]:
        """Return the fault of a packet that enters these ports: it is held for the sum of their delays."""
        late = sum(self._late.get(port, 0) for port in ports) if self._late else 0
        return [Fault(FaultKind.REORDER, delay=late)] if late else []

    def passed(self, source: int, destination: int) -> int:
        """Return the number of packets that have used a path, which is the number of the next one."""
        return self._seen.get((source, destination), 0)

    def _add(self, source: int, destination: int, number: int, fault: Fault) -> None:
        self._plan.setdefault((source, destination, number), []).append(fault)
