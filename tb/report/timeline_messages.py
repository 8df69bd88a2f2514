"""Messages in a timeline: send calls and handlers, packets on engines, cables and switches, arrows, and queues."""

from __future__ import annotations

from collections import defaultdict

from pymodels.trace import ACCEPT_IN_NIC, TraceEvent
from tb.report.life import REPLY, Life, Piece
from tb.report.lives import Lives
from tb.report.timeline_places import (
    CALLS,
    CIRCUIT,
    DMA,
    HOST,
    NIC,
    RECEIVE_ENGINE,
    RESULT,
    SEND_ENGINE,
    SWITCH,
    Places,
)
from tb.report.timeline_units import Units
from tb.report.trace_events import Place, TraceEvents
from tb.report.wire import Packet

SHORTEST = 1000
"""Minimum length of a span in ps; a handler without duration is shown as 1 ns."""
Call = tuple[int, int, str]
"""Begin, end and name of a call."""


class Messages:
    """Writer of a run's messages to a timeline."""

    def __init__(self, lives: Lives, units: Units, places: Places, events: TraceEvents) -> None:
        self._lives, self._units, self._places, self._events = lives, units, places, events
        self._legend = places.legend
        pieces = [piece for life in lives.lives for piece in life.pieces]
        self._answers = {
            id(packet): f"{kind} of message {piece.life.number}" for piece in pieces for kind, packet in piece.answers
        }

    def add(self) -> None:
        """Add all messages."""
        for packet in self._lives.wire.packets:
            self._packet(packet)
        for node, calls in self._calls().items():
            for lane, call in lanes(calls):
                self._events.span((HOST + node, CALLS + lane), call[2], call[0], call[1])
            for lane in range(1 + max(lane for lane, _ in lanes(calls))):
                self._events.thread((HOST + node, CALLS + lane), "calls and handlers")
        self._cards()
        for life in self._lives.lives:
            self._events.flow(life.number, life.name(self._legend), self._way(life))
        self._queues()

    # ---- calls

    def _calls(self) -> dict[int, list[Call]]:
        """Return send calls and handlers by node."""
        calls: dict[int, list[Call]] = defaultdict(list)
        for life in self._lives.lives:
            name = life.name(self._legend)
            if life.returned is not None:
                calls[life.node].append((life.sent, max(life.returned, life.sent + SHORTEST), f"send: {name}"))
            if life.handled is not None and life.target is not None and not life.to_card:
                end = max(life.ended or 0, life.handled + SHORTEST)
                calls[life.target].append((life.handled, end, f"handler {life.handler}: {name}"))
        return calls

    # ---- cards

    def _cards(self) -> None:
        """Add messages in circuits, and results on their way out of the card."""
        for life in self._lives.lives:
            name = life.name(self._legend)
            if life.to_card and life.target is not None and life.handled is not None:
                place = self._places.of_card(life.target, CIRCUIT)
                self._events.span(place, name, life.handled, max(life.ended or 0, life.handled + SHORTEST))
            noticed = life.pieces[-1].first(TraceEvent.NIC_NOTICED) if life.from_card and life.pieces else None
            if noticed is not None:
                self._events.span(self._places.of_card(life.node, RESULT), name, life.sent, noticed[0])

    # ---- packets

    def _name(self, packet: Packet) -> str:
        piece = self._lives.piece_of.get(id(packet))
        if piece is None:
            other = "control message" if self._lives.lives else f"packet {packet.key:08x}"
            return self._answers.get(id(packet), other)
        life = piece.life
        part = f", part {life.pieces.index(piece) + 1} of {len(life.pieces)}" if len(life.pieces) > 1 else ""
        again = "" if packet is piece.packets[0] else ", retransmission"
        if life.posted and len(piece.packets) > 1:
            again = f", packet {piece.packets.index(packet) + 1} of {len(piece.packets)}"
        return f"{life.name(self._legend)}{part}{again}"

    def _packet(self, packet: Packet) -> None:
        events, name, told = self._events, self._name(packet), f'"key":"{packet.key:08x}","bytes":{packet.bytes}'
        if packet.read is not None:
            events.span((NIC + packet.source, SEND_ENGINE), name, packet.start, packet.read, told)
        if packet.tx_head is not None and packet.tx_tail is not None:
            events.span(self._places.leaving_host(packet.source), name, packet.tx_head, packet.tx_tail, told)
        for hop in packet.hops:
            place = self._places.leaving_switch(hop.switch, hop.output)
            if hop.grant is not None and hop.tail is not None and place is not None:
                events.span((SWITCH + hop.switch, hop.input), name, hop.head, hop.tail, told)
                events.span(place, name, hop.grant, hop.tail, told)
        if packet.stored_head is not None and packet.stored is not None and packet.target is not None:
            place = (NIC + packet.target, RECEIVE_ENGINE)
            harm = "" if not packet.syndrome else f',"syndrome":{packet.syndrome}'
            events.span(place, name, packet.stored_head, packet.stored, told + harm)

    # ---- arrows

    def _way(self, life: Life) -> list[tuple[Place, int]]:
        """Return the points of a message's arrow: its send call, the route of its last piece, and its handler."""
        points: list[tuple[Place, int | None]] = []
        if life.returned is not None:
            points.append(((HOST + life.node, CALLS), life.sent))
        if life.cause is not None:
            points += self._origin(life)
        if life.from_card:
            points.append((self._places.of_card(life.node, RESULT), life.sent))
        if life.pieces and life.pieces[-1].packets:
            points += self._way_of(life.pieces[-1], life.pieces[-1].packets[-1])
        if life.target is not None:
            end = self._places.of_card(life.target, CIRCUIT) if life.to_card else (HOST + life.target, CALLS)
            points.append((end, life.handled))
        return [(place, time) for place, time in points if time is not None]

    def _origin(self, life: Life) -> list[tuple[Place, int | None]]:
        """Return the points before a message generated by a NIC: arrival of its cause, and the work that
        generates it.
        """
        cause, points = life.cause, []
        packets = cause.pieces[0].packets if cause is not None and cause.pieces else []
        if packets:
            points.append(((NIC + life.node, RECEIVE_ENGINE), packets[-1].stored_head))
        work = self._units.work_before(life.node, life.sent)
        return points + ([work] if work is not None else [])

    def _way_of(self, piece: Piece, packet: Packet) -> list[tuple[Place, int | None]]:
        points: list[tuple[Place, int | None]] = []
        start = piece.last(TraceEvent.NIC_SEND_START)
        work = self._units.work_before(packet.source, start[0]) if start is not None else None
        if work is not None and work[1] >= piece.life.sent:
            points.append(work)
        points += [((NIC + packet.source, SEND_ENGINE), packet.start)]
        points += [(self._places.leaving_host(packet.source), packet.tx_head)]
        points += [((SWITCH + hop.switch, hop.input), hop.head) for hop in packet.hops]
        if packet.target is not None:
            points += [((NIC + packet.target, RECEIVE_ENGINE), packet.stored_head)]
            points += [((NIC + packet.target, DMA), begin) for kind, begin, _ in piece.dma[-2:] if kind == "message"]
        return points

    # ---- queues

    def _queues(self) -> None:
        """Add counters of waiting messages: from the host's write to the ACK, and from acceptance to the host."""
        changes: dict[tuple[int, str], list[tuple[int, int]]] = defaultdict(list)
        for life in self._lives.lives:
            for piece in life.pieces:
                name, begins, ends = _sending(life)
                _interval(changes[NIC + life.node, name], piece, begins, ends)
                accepted = piece.first(TraceEvent.NIC_ACCEPT)
                looked_for = accepted is not None and accepted[5] != ACCEPT_IN_NIC
                if life.target is not None and not life.to_card and looked_for:
                    incoming = (HOST + life.target, "messages before the host")
                    _interval(changes[incoming], piece, TraceEvent.NIC_ACCEPT, TraceEvent.POLL_HIT)
        for (process, name), steps in changes.items():
            depth = 0
            for time, step in sorted(steps):
                depth += step
                self._events.counter(process, name, time, depth)


def _sending(life: Life) -> tuple[str, int, int]:
    """Return counter, begin event and end event for the queueing of a message at its sender."""
    if life.posted:
        return "messages posted, not on the cable", TraceEvent.POSTED, TraceEvent.TX_HEAD
    if life.cause is not None:
        begins = TraceEvent.NIC_REPLY if life.kind == REPLY else TraceEvent.NIC_COPY
    else:
        begins = TraceEvent.NIC_NOTICED if life.from_card else TraceEvent.PAYLOAD_WRITTEN
    return "messages sent, not acknowledged", begins, TraceEvent.ACK_SEEN


def _interval(steps: list[tuple[int, int]], piece: Piece, begin: int, end: int) -> None:
    """Append a step up at the first event and a step down at the last."""
    first, last = piece.first(begin), piece.last(end)
    if first is not None:
        steps.append((first[0], 1))
        if last is not None:
            steps.append((last[0], -1))


def lanes(calls: list[Call]) -> list[tuple[int, Call]]:
    """Return calls with lanes, such that calls in a lane are disjoint or nested, as viewers require."""
    stacks: list[list[int]] = []
    placed = []
    for call in sorted(calls, key=lambda call: (call[0], -call[1])):
        for lane, stack in enumerate(stacks):  # noqa: B007 - the lane that was found is used below
            while stack and stack[-1] <= call[0]:
                stack.pop()
            if not stack or call[1] <= stack[-1]:
                break
        else:
            lane = len(stacks)
            stacks.append([])
        stacks[lane].append(call[1])
        placed.append((lane, call))
    return placed
