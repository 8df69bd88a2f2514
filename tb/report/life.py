"""One message of a run, from `send` (or the writing of a card's result) to its handler, and what its packets carry."""

from __future__ import annotations

from dataclasses import dataclass, field

from firmware.shown import NOTHING_SAID, Shown
from tb.report.recorded import Legend
from tb.report.wire import Packet

Mark = tuple[int, int, int, int, int, int]
"""A record of a message: (time, unit, event, packet, argument, argument2)."""

READ, REPLY, MULTICAST, COPY = "remote read", "reply", "multicast", "copy"
"""Kinds of messages; of a descriptor also what it asks for, in words of its layer."""


@dataclass
class Piece:
    """What one packet carries of a message."""

    life: Life
    key: int
    size: int
    """Bytes with header, as handed to the bus."""
    marks: list[Mark] = field(default_factory=list)
    """Every record of this piece, in time order."""
    dma: list[tuple[str, int, int]] = field(default_factory=list)
    """Host DMA blocks: (`message` or `pointer` at the receiver, `fetch` at the sender, start, end), in picoseconds."""
    packets: list[Packet] = field(default_factory=list)
    """One for each time it was sent; of a descriptor, which is one piece, all its packets."""
    queue: int = 0
    """Of a descriptor: the sender's queue (a VI)."""
    done: int | None = None
    """When its receiver was through with it, as far as no handler tells."""
    answers: list[tuple[str, Packet]] = field(default_factory=list)
    """Control messages that answer it: (`ACK` or `NACK`, packet)."""

    def last(self, event: int) -> Mark | None:
        """The last record of an event, None when there is none."""
        return next((mark for mark in reversed(self.marks) if mark[2] == event), None)

    def first(self, event: int) -> Mark | None:
        """The first record of an event, None when there is none."""
        return next((mark for mark in self.marks if mark[2] == event), None)


@dataclass
class Life:
    """One message."""

    number: int
    """From 1, in the order in which hosts and cards begin to send: the MESSAGE of `make explain`."""
    node: int
    """The host that sends, or whose card does."""
    size: int
    """Bytes as given to `send`; of a card's result those of its packet (whole lane groups), of a read those it
    asks for.
    """
    sent: int
    """Time of the call, in picoseconds; of a card's result when it is written."""
    returned: int | None = None
    from_card: bool = False
    """It is a result of the host's FPGA card."""
    to_card: bool = False
    """A circuit of the receiving host's FPGA card took it."""
    target: int | None = None
    """The host that receives, or whose card does; None while nothing of it has arrived."""
    handler: int | None = None
    handled: int | None = None
    """When its handler began, or a circuit took it."""
    ended: int | None = None
    """When its handler was done, or the circuit's result was written."""
    before: list[Mark] = field(default_factory=list)
    """Its records from before its first piece."""
    pieces: list[Piece] = field(default_factory=list)
    kind: str = ""
    """What it is, where it is not simply a message."""
    cause: Life | None = None
    """The message for which a NIC has made this one: the read that it replies to, or what it is a copy of."""
    made: list[Life] = field(default_factory=list)
    """The messages that NICs have made for it."""
    posted: bool = False
    """It began as a descriptor: its keys are its own, and its packets are one piece."""
    shown: Shown = NOTHING_SAID
    """What its layer says of its messages."""

    @property
    def arrived(self) -> int | None:
        """The end of its life: its handler begins; without one, its receiver is through with it. None: not yet."""
        if self.handled is not None or not self.pieces:
            return self.handled
        return self.pieces[-1].done

    @property
    def latency(self) -> int | None:
        """Picoseconds from `send` to its end; None when it has not arrived."""
        return None if self.arrived is None else self.arrived - self.sent

    def name(self, legend: Legend) -> str:
        """A name for people: `message 12, paris to card of metz, 64 B`; `message 13, reply to message 12, ...`."""
        card, kind = "card of ", f", {self.kind}" if self.kind else ""
        of = f" {'to' if self.kind == REPLY else 'of'} message {self.cause.number}" if self.cause is not None else ""
        target = "" if self.target is None else f" to {card * self.to_card}{legend.hosts[self.target]}"
        way = f"{card * self.from_card}{legend.hosts[self.node]}{target}"
        return f"message {self.number}{kind}{of}, {way}, {self.size} B"

    @property
    def first(self) -> Life:
        """The message at the beginning: itself, or for one that a NIC has made, what a host or a card has sent."""
        return self if self.cause is None else self.cause.first
