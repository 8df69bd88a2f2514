"""Data of one message: from `send`, or the writing of a card's result, to its handler, with its packets."""

from __future__ import annotations

from dataclasses import dataclass, field

from firmware.shown import HARDWARE_SHOWN, Shown
from tb.report.recorded import Legend
from tb.report.wire import Packet

Mark = tuple[int, int, int, int, int, int, int]
"""Record of a message: (time, unit, event, packet, argument, argument2, message)."""

READ, REPLY, MULTICAST, COPY = "remote read", "reply", "multicast", "copy"
"""Kinds of messages; a descriptor also has its operation, in words of its layer."""


@dataclass
class Piece:
    """Part of a message in one packet."""

    life: Life
    key: int
    size: int
    """Bytes written to the bus, including the header."""
    marks: list[Mark] = field(default_factory=list)
    """Records of this piece in time order."""
    dma: list[tuple[str, int, int]] = field(default_factory=list)
    """Host DMA blocks: (`message` or `pointer` at the receiver, `fetch` at the sender, start, end), times in ps."""
    packets: list[Packet] = field(default_factory=list)
    """Packet of each transmission; for a descriptor, which is one piece, all its packets."""
    queue: int = 0
    """Sender's queue (a VI) of a descriptor."""
    done: int | None = None
    """Time at which the receiver completed it, if no handler was traced."""
    answers: list[tuple[str, Packet]] = field(default_factory=list)
    """Control messages in response: (`ACK` or `NACK`, packet)."""

    def last(self, event: int) -> Mark | None:
        """Return the last record of an event, or None."""
        return next((mark for mark in reversed(self.marks) if mark[2] == event), None)

    def first(self, event: int) -> Mark | None:
        """Return the first record of an event, or None."""
        return next((mark for mark in self.marks if mark[2] == event), None)


@dataclass
class Life:
    """Message of a run."""

    number: int
    """Number from 1 in the order in which hosts and cards begin to send: MESSAGE of `make explain`."""
    node: int
    """Host that sends, or whose card sends."""
    size: int
    """Bytes passed to `send`; for a card's result those of its packet (whole lane groups), for a read the
    requested bytes.
    """
    sent: int
    """Time of the call in ps; for a card's result the time at which it is written."""
    returned: int | None = None
    from_card: bool = False
    """True for a result of the host's FPGA card."""
    to_card: bool = False
    """True if a circuit of the receiving host's FPGA card took the message."""
    target: int | None = None
    """Host that receives, or whose card receives; None before any part has arrived."""
    handler: int | None = None
    handled: int | None = None
    """Time at which the handler began, or a circuit took the message."""
    ended: int | None = None
    """Time at which the handler ended, or the circuit's result was written."""
    before: list[Mark] = field(default_factory=list)
    """Records before the first piece."""
    pieces: list[Piece] = field(default_factory=list)
    kind: str = ""
    """Kind of the message; empty for an ordinary message."""
    cause: Life | None = None
    """Message for which a NIC generated this message: the read that it answers, or the original of a copy."""
    made: list[Life] = field(default_factory=list)
    """Messages that NICs generated for this message."""
    through: Life | None = None
    """Message whose circuit gave this result of a card."""
    result: Life | None = None
    """Result of the circuit that took this message."""
    posted: bool = False
    """True for a descriptor, which has its own keys and one piece with all packets."""
    shown: Shown = HARDWARE_SHOWN
    """Description of messages by the layer."""

    @property
    def arrived(self) -> int | None:
        """Time at which the handler begins or, without a handler, the receiver has completed the message;
        None before.
        """
        if self.handled is not None or not self.pieces:
            return self.handled
        return self.pieces[-1].done

    @property
    def latency(self) -> int | None:
        """Time in ps from `send` to the arrival; None before the arrival."""
        return None if self.arrived is None else self.arrived - self.sent

    def name(self, legend: Legend) -> str:
        """Return a readable name: `message 12, paris to card of metz, 64 B`; `message 13, reply to message 12, ...`."""
        card, kind = "card of ", f", {self.kind}" if self.kind else ""
        of = f" {'to' if self.kind == REPLY else 'of'} message {self.cause.number}" if self.cause is not None else ""
        target = "" if self.target is None else f" to {card * self.to_card}{legend.hosts[self.target]}"
        way = f"{card * self.from_card}{legend.hosts[self.node]}{target}"
        return f"message {self.number}{kind}{of}, {way}, {self.size} B"

    @property
    def first(self) -> Life:
        """Message at the origin: for a message generated by a NIC, the message that a host or card has sent; else
        itself.
        """
        return self if self.cause is None else self.cause.first
