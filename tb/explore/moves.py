"""Transition relation of a world: the successors of a situation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from tb.explore.atlas import Atlas
from tb.explore.node import Node, Packets
from tb.explore.sets import Following, Sets, States
from tb.explore.situation import NONE, Move, Situation
from tb.explore.world import SmallWorld


class Moves:
    """Moves of a world: a packet leaves a node, arrives at a node or is lost; at rest a timer fires."""

    def __init__(self, world: SmallWorld, atlas: Atlas, kind: type[Sets] = Sets) -> None:
        """Create the moves; `kind` determines how states of a node are grouped."""
        self.world, self.atlas = world, atlas
        self.packets = Packets()
        nodes = range(atlas.parts // 2)
        self.nodes = [Node(number, atlas, self.packets, world.early, world.serves) for number in nodes]
        self.sets = [kind(node) for node in self.nodes]

    def begin(self) -> Situation:
        """Return the initial situation."""
        sets = tuple(one.closed(frozenset([0])) for one in self.sets)
        return Situation(sets, ((),) * len(sets), NONE, self.world.times)

    def states(self, situation: Situation) -> tuple[States, ...]:
        """Return the possible states of each node."""
        return tuple(one.known[number] for one, number in zip(self.sets, situation.sets, strict=True))

    def after(self, situation: Situation) -> Iterator[tuple[Move, Situation]]:
        """Yield all moves and their situations, except the timers of a world at rest."""
        for node, one in enumerate(self.sets):
            found = one.acts(situation.sets[node], self.full(situation, node))
            yield from self._all(situation, Move("acts", node), found)
        for source, packet in self._ready(situation):
            kind = "late" if source == NONE else "arrives"
            yield from self._arrivals(_without(situation, source), kind, packet, False)
        if situation.faults:
            yield from self._faulty(situation._replace(faults=situation.faults - 1))

    def _all(self, situation: Situation, move: Move, found: Following) -> Iterator[tuple[Move, Situation]]:
        for packets, following in found:
            sets, fifos = _with(situation.sets, move.node, following), situation.fifos
            if packets:
                fifos = _with(fifos, move.node, fifos[move.node] + packets)
            yield move._replace(sent=packets), situation._replace(sets=sets, fifos=fifos)

    # ---- the network

    def full(self, situation: Situation, node: int) -> bool:
        """Return True if the network accepts no more packets of a node."""
        return len(situation.fifos[node]) >= self.world.room

    def _ready(self, situation: Situation) -> Iterator[tuple[int, int]]:
        """Yield source and number of each packet that can arrive; the source of the late packet is NONE."""
        for source, fifo in enumerate(situation.fifos):
            if fifo:
                yield source, fifo[0]
        if situation.late != NONE:
            yield NONE, situation.late

    def _arrivals(
        self, situation: Situation, kind: str, packet: int, damaged: bool
    ) -> Iterator[tuple[Move, Situation]]:
        node = self.packets.target(packet)
        found = self.sets[node].takes(situation.sets[node], packet, damaged)
        yield from self._all(situation, Move(kind, node, packet), found)

    def _faulty(self, situation: Situation) -> Iterator[tuple[Move, Situation]]:
        faults = self.world.faults
        for source, fifo in enumerate(situation.fifos):
            if not fifo:
                continue
            packet, without = fifo[0], _without(situation, source)
            if "lost" in faults:
                yield Move("lost", source, packet), without
            if "damaged" in faults:
                yield from self._arrivals(without, "damaged", packet, True)
            if situation.late == NONE and "doubled" in faults:
                yield Move("doubled", source, packet), situation._replace(late=packet)
            if situation.late == NONE and "overtaken" in faults:
                yield Move("overtaken", source, packet), without._replace(late=packet)

    def waiting(self, situation: Situation) -> list[int]:
        """Return the packets in the network."""
        return [packet for fifo in situation.fifos for packet in fifo] + [situation.late] * (situation.late != NONE)

    # ---- rest

    def resting(self, situation: Situation) -> Situation | None:
        """Return the situation restricted to states in which only a timer can fire; None if a node has no such
        state.
        """
        wanted = {self.packets.target(packet) for _, packet in self._ready(situation)}
        sets = []
        for node, one in enumerate(self.sets):
            rest = one.rest(situation.sets[node], self.full(situation, node), node in wanted)
            if not one.known[rest]:
                return None
            sets.append(rest)
        return situation._replace(sets=tuple(sets))

    def timers(self, rest: Situation) -> Iterator[tuple[Move, Situation]]:
        """Yield the timer moves of a world at rest."""
        sets = tuple(one.closed(one.known[number]) for one, number in zip(self.sets, rest.sets, strict=True))
        for node, one in enumerate(self.sets):
            yield from self._all(rest._replace(sets=sets), Move("timer", node), one.timers(rest.sets[node]))

    def every(self, situation: Situation) -> Iterator[tuple[Move, Situation]]:
        """Yield all moves and their situations."""
        yield from self.after(situation)
        rest = self.resting(situation)
        if rest is not None:
            yield from self.timers(rest)


def _without(situation: Situation, source: int) -> Situation:
    """Return the situation without the oldest packet of a source; NONE: without the late packet."""
    if source == NONE:
        return situation._replace(late=NONE)
    return situation._replace(fifos=_with(situation.fifos, source, situation.fifos[source][1:]))


Value = TypeVar("Value")


def _with(values: tuple[Value, ...], place: int, value: Value) -> tuple[Value, ...]:
    return (*values[:place], value, *values[place + 1 :])
