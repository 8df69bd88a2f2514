"""Delays of a message: packets that occupied an output, processor work for other messages.

A delay is an interval of the message's life in which another message held a needed resource, found in the trace.
Processor work counts for another message while that message's own stage is on that processor.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from firmware.shown import Waits
from pymodels.trace import Part, TraceEvent, unit
from tb.report.life import Life
from tb.report.lives import Lives
from tb.report.recorded import Legend
from tb.report.stages import Stage, stages_of
from tb.report.timeline_units import name_of
from tb.report.wire import Hop, Packet

IDLE = Waits.PROCESSOR | Waits.DMA
"""Wait reasons of stages in which no processor works for the message."""


@dataclass(frozen=True)
class Delay:
    """Interval in ps in which a message waited for the resource `what`, held by `who`."""

    begin: int
    end: int
    what: str
    who: str

    def __str__(self) -> str:
        return f"waited {(self.end - self.begin) / 1e6:.3f} us for {self.what}, which {self.who} had"


@dataclass(frozen=True)
class Use:
    """Stage of a message on a processor."""

    begin: int
    end: int
    life: Life
    stage: str


class Neighbours:
    """Activity of other messages during the life of one message."""

    def __init__(self, lives: Lives, legend: Legend, trace: NDArray[np.void]) -> None:
        self._legend, self._lives, self._trace = legend, lives, trace
        self._uses: dict[int, list[Use]] = defaultdict(list)
        """Stages by processor (unit), in time order."""
        self._outputs: dict[tuple[int, int], list[tuple[Hop, Packet]]] = defaultdict(list)
        self._inputs: dict[tuple[int, int], list[tuple[Hop, Packet]]] = defaultdict(list)
        self._sent: dict[int, list[Packet]] = defaultdict(list)
        for life in lives.lives:
            self._use(life)
        for packet in lives.wire.packets:
            self._sent[packet.source].append(packet)
            for hop in packet.hops:
                self._outputs[hop.switch, hop.output].append((hop, packet))
                self._inputs[hop.switch, hop.input].append((hop, packet))
        for uses in self._uses.values():
            uses.sort(key=lambda use: use.begin)

    def _use(self, life: Life) -> None:
        for stage in stages_of(life):
            node = (life.node, life.target)[stage.side]
            works = stage.part in (Part.NIC_CPU, Part.HOST_CPU) and not stage.boundary.waits & IDLE
            if works and node is not None:
                use = Use(stage.begin, stage.end, life, stage.name.replace("_", " "))
                self._uses[unit(node, stage.part)].append(use)
        if life.handled is not None and life.ended is not None and life.target is not None:
            self._uses[unit(life.target, Part.HOST_CPU)].append(Use(life.handled, life.ended, life, "handler"))

    def delays(self, life: Life, stage: Stage) -> list[Delay]:
        """Return the delays of the message in one of its stages, in time order."""
        found: list[Delay] = []
        waits = stage.boundary.waits
        if Waits.PROCESSOR in waits:
            found += self._processor(life, stage)
        if waits & (Waits.ENGINE | Waits.OWN_PACKETS):
            found += self._engine(life, stage, only_own=Waits.OWN_PACKETS in waits)
        if Waits.SWITCH in waits and life.pieces[-1].packets:
            packet = life.pieces[-1].packets[-1]
            found += (delay for hop in packet.hops for delay in self._switch(life, packet, hop))
        if Waits.LINK in waits:
            found += self._stopped(life, stage)
        if Waits.DMA in waits:
            found += self._dma(life, stage)
        return sorted((delay for delay in found if delay.end > delay.begin), key=lambda delay: delay.begin)

    def _processor(self, life: Life, stage: Stage) -> Iterator[Delay]:
        """Yield the intervals in which the processor worked for other messages."""
        node = (life.node, life.target)[stage.side]
        if node is None:
            return
        whose = f"{self._legend.hosts[node]}'s {'CPU' if stage.part == Part.HOST_CPU else 'NIC processor'}"
        uses = self._uses[unit(node, stage.part)]
        for use in uses[: bisect_left(uses, stage.end, key=lambda use: use.begin)]:
            begin, end = max(use.begin, stage.begin), min(use.end, stage.end)
            if use.life is not life and end > begin:
                yield Delay(begin, end, whose, f"{use.life.name(self._legend)} ({use.stage})")

    def _engine(self, life: Life, stage: Stage, only_own: bool) -> Iterator[Delay]:
        """Yield the intervals in which the send engine read other packets; with `only_own`, only packets of
        the same message.
        """
        what, last = f"{self._legend.hosts[life.node]}'s send engine", life.pieces[-1]
        for packet in self._sent[life.node]:
            piece = self._lives.piece_of.get(id(packet))
            end = packet.tx_tail if packet.tx_tail is not None else stage.end
            if piece is last or (only_own and (piece is None or piece.life is not life)):
                continue
            if packet.start < stage.end and end > stage.begin:
                yield Delay(max(packet.start, stage.begin), min(end, stage.end), what, self._name(packet, life))

    def _switch(self, life: Life, packet: Packet, hop: Hop) -> Iterator[Delay]:
        """Yield the intervals in which another packet held the requested output, or was ahead in the same input."""
        switch = self._legend.switches[hop.switch][0]
        before = [other for other in self._inputs[hop.switch, hop.input] if other[0].head < hop.head]
        if before and packet.tx_head is not None:
            ahead, other = max(before, key=lambda entry: entry[0].head)
            if ahead.tail is not None and ahead.tail > packet.tx_head:
                what = f"its turn at input {hop.input} of {switch}"
                yield Delay(packet.tx_head, min(ahead.tail, hop.head), what, self._name(other, life))
        end = hop.grant if hop.grant is not None else None
        for other_hop, other in self._outputs[hop.switch, hop.output]:
            if other is packet or other_hop.grant is None or end is None:
                continue
            until = other_hop.tail if other_hop.tail is not None else end
            if other_hop.grant < end and until > hop.head:
                what = f"output {hop.output} of {switch}"
                yield Delay(max(other_hop.grant, hop.head), min(until, end), what, self._name(other, life))

    def _stopped(self, life: Life, stage: Stage) -> Iterator[Delay]:
        """Yield the intervals in which STOP paused the sender's link."""
        owner = unit(life.node, Part.LINK)
        for begin, end in self._pairs(owner, TraceEvent.STALL_START, TraceEvent.STALL_END, stage):
            what = f"GO on the cable of {self._legend.hosts[life.node]}"
            yield Delay(begin, end, what, "a full slack buffer behind it")

    def _dma(self, life: Life, stage: Stage) -> Iterator[Delay]:
        """Yield the intervals in which the host DMA moved blocks of other messages."""
        node = (life.node, life.target)[stage.side]
        for other in self._lives.lives:
            if node is None or node not in (other.node, other.target) or other.sent > stage.end or other is life:
                continue
            for kind, begin, end in (block for piece in other.pieces for block in piece.dma):
                at = other.node if kind == "fetch" else other.target
                if at == node and begin < stage.end and end > stage.begin:
                    what = f"the host DMA of {self._legend.hosts[node]}"
                    yield Delay(max(begin, stage.begin), min(end, stage.end), what, other.name(self._legend))

    def _pairs(self, owner: int, start: int, stop: int, stage: Stage) -> Iterator[tuple[int, int]]:
        """Yield the intervals between two events of a unit, limited to a stage."""
        times = self._trace["time"]
        part = self._trace[: int(np.searchsorted(times, stage.end, "right"))]
        mine = part[(part["unit"] == owner) & np.isin(part["event"], (start, stop))]
        begun: int | None = None
        for record in mine:
            if record["event"] == start:
                begun = int(record["time"])
            elif begun is not None:
                if record["time"] > stage.begin:
                    yield max(begun, stage.begin), int(record["time"])
                begun = None
        if begun is not None:
            yield max(begun, stage.begin), stage.end

    def _name(self, packet: Packet, life: Life) -> str:
        """Return the name of a packet's message, relative to a given message."""
        piece = self._lives.piece_of.get(id(packet))
        if piece is not None and piece.life is life:
            return "an earlier packet of its own"
        if piece is not None:
            return piece.life.name(self._legend)
        target = "" if packet.target is None else f" to {self._legend.hosts[packet.target]}"
        return f"a control message, {self._legend.hosts[packet.source]}{target}"

    def instructions(self, node: int, part: Part, stage: Stage) -> list[tuple[str, int]]:
        """Return the paths that a processor executed in a stage, with times in ps, longest first."""
        cpu = part == Part.HOST_CPU
        start = TraceEvent.SPEND_START if cpu else TraceEvent.WORK_START
        stop = TraceEvent.SPEND_END if cpu else TraceEvent.WORK_END
        times, owner = self._trace["time"], unit(node, part)
        first, last = np.searchsorted(times, stage.begin), np.searchsorted(times, stage.end, "right")
        window = self._trace[int(first) : int(last)]
        begun: dict[int, int] = {}
        spent: dict[str, int] = defaultdict(int)
        for record in window[(window["unit"] == owner) & np.isin(window["event"], (start, stop))]:
            number, time = int(record["argument"]), int(record["time"])
            if record["event"] == start:
                begun[number] = time
            else:
                spent[self._legend.path(number)] += time - begun.pop(number, stage.begin)
        return sorted(spent.items(), key=lambda entry: -entry[1])

    def call(self, node: int, time: int) -> tuple[str, int, int | None] | None:
        """Return the library call of a host's application at a time as (name, begin, end), or None outside calls."""
        of_node = self._trace[self._trace["unit"] == unit(node, Part.HOST_CPU)]
        mine = of_node[np.isin(of_node["event"], (TraceEvent.CALL_START, TraceEvent.CALL_END))]
        begun = mine[(mine["event"] == TraceEvent.CALL_START) & (mine["time"] <= time)]
        if not len(begun):
            return None
        began = int(begun["time"][-1])
        ends = mine["time"][(mine["event"] == TraceEvent.CALL_END) & (mine["time"] >= began)]
        end = int(ends[0]) if len(ends) else None
        if end is not None and end < time:
            return None
        return name_of(self._lives.shown.calls, int(begun["argument"][-1])), began, end

    def functions(self, node: int, stage: Stage) -> list[tuple[str, int]]:
        """Return the firmware functions that a NIC executed in a stage, with times in ps, longest first.

        An inlined function counts separately from its caller.
        """
        told = self._trace[
            (self._trace["unit"] == unit(node, Part.NIC_CPU)) & (self._trace["event"] == TraceEvent.FUNCTION)
        ]
        first = max(int(np.searchsorted(told["time"], stage.begin, "right")) - 1, 0)
        within = told[first : int(np.searchsorted(told["time"], stage.end))]
        changes = [max(int(time), stage.begin) for time in within["time"]]
        spent: dict[str, int] = defaultdict(int)
        for number, begin, end in zip(within["argument"].tolist(), changes, [*changes[1:], stage.end], strict=False):
            spent[self._legend.function(number)[-1].function] += end - begin
        return sorted(spent.items(), key=lambda entry: -entry[1])


def total(delays: Iterable[Delay]) -> int:
    """Return the time in ps covered by at least one delay."""
    covered, until = 0, -1
    for delay in sorted(delays, key=lambda delay: delay.begin):
        covered += max(0, delay.end - max(delay.begin, until))
        until = max(until, delay.end)
    return covered
