"""What tools show of a message layer: where the stages of its messages end, and what its numbers mean.

A layer says it in `shown.py` of its folder, as `SHOWN` (`firmware.layers.shown`), and the fields of its packets in
`dissector.lua` beside it, or here when they are plain. Each part may be left out. Reports, `make explain` and the
packets' dissector ask here, and know no layer by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Flag, IntEnum, auto

from pymodels.trace import Part, TraceEvent


class Waits(Flag):
    """What a message may wait for in a stage, beside the work that is done for it."""

    PROCESSOR = auto()
    """To be seen by a processor that is at work for others."""
    OWN_PACKETS = auto()
    """The send engine, which reads earlier packets of the same message."""
    ENGINE = auto()
    """The send engine, whatever it reads."""
    SWITCH = auto()
    """A switch's output, or its turn at the input."""
    LINK = auto()
    """GO on the cable."""
    DMA = auto()
    """The host DMA, which moves other messages."""


NOTHING = Waits(0)


@dataclass(frozen=True)
class Boundary:
    """Where a stage ends: at this event of this part of the sending (0) or receiving (1) node."""

    stage: str
    event: TraceEvent
    part: Part
    side: int
    told: str
    """A sentence of what happens in it, with the words {source}, {target}, {bytes}, {way} and {answers} filled in."""
    waits: Waits = NOTHING
    first: bool = False
    """At its first record; otherwise at its last (a message that was refused is sent again)."""
    block: str = ""
    """Of a host DMA: which blocks."""
    optional: bool = False
    """Stands only where it has taken time."""


NIC_SEND = Boundary(
    "nic_send",
    TraceEvent.NIC_SEND_START,
    Part.NIC_CPU,
    0,
    "the NIC of {source} makes the packet ready and starts the send engine",
    Waits.ENGINE,
    first=True,
)
WIRE = (
    Boundary(
        "send_engine",
        TraceEvent.TX_HEAD,
        Part.LINK,
        0,
        "the send engine reads SRAM, and the head goes onto the cable",
        Waits.ENGINE,
    ),
    Boundary(
        "wire_and_switch",
        TraceEvent.RX_HEAD,
        Part.LINK,
        1,
        "the head travels to {target} {way}",
        Waits.SWITCH | Waits.LINK,
    ),
    Boundary(
        "reception",
        TraceEvent.RX_TAIL,
        Part.NET_RECV,
        1,
        "the rest of the packet follows into the SRAM of {target}",
        Waits.LINK,
    ),
)
"""What the hardware does between two NICs."""
NIC_NOTICES = Boundary(
    "nic_notices",
    TraceEvent.NIC_RECV_START,
    Part.NIC_CPU,
    1,
    "the NIC of {target} reaches the packet in its polling loop",
    Waits.PROCESSOR,
)


def ordered(
    sends: str, orders: str, order: str, load: str, names: tuple[str, str] = ("host_send", "host_order")
) -> tuple[Boundary, ...]:
    """The stages of a message that a host copies into a send buffer and has its NIC send, until the send engine starts.

    `sends`, `orders`: what the CPU does in the first two, which have these names. `order`, `load`: in a word, what
    crosses the bus, and what the NIC must have room for.
    """
    return (
        Boundary(names[0], TraceEvent.PAYLOAD_WRITTEN, Part.HOST_CPU, 0, sends),
        Boundary(names[1], TraceEvent.POINTER_WRITTEN, Part.HOST_CPU, 0, orders),
        Boundary(
            "bus_and_turn",
            TraceEvent.NIC_NOTICED,
            Part.NIC_CPU,
            0,
            f"the {order} crosses the bus, and the NIC of {{source}} comes to it when it has room for the {load}",
            Waits.PROCESSOR | Waits.OWN_PACKETS | Waits.ENGINE,
        ),
        NIC_SEND,
    )


def brought(receives: str, seen: str, name: str = "host_notices") -> tuple[Boundary, ...]:
    """The stages of a message that a NIC moves into host memory, until its CPU has seen it: `name`, as `seen` says."""
    return (
        NIC_NOTICES,
        Boundary("nic_receive", TraceEvent.NIC_DMA_START, Part.NIC_CPU, 1, receives),
        Boundary(name, TraceEvent.POLL_HIT, Part.HOST_CPU, 1, seen, Waits.PROCESSOR | Waits.DMA),
    )


UNTIL_SEEN = Boundary(
    "until_seen",
    TraceEvent.POLL_HIT,
    Part.HOST_CPU,
    1,
    "the CPU of {target} sees the message",
    Waits.PROCESSOR,
)
"""The last stage of a message whose records end before it does."""
FETCH = "the host DMA of {source} fetches the data from host memory"
BEGINS_REPLY = Boundary(
    "nic_begins_reply",
    TraceEvent.NIC_REPLY,
    Part.NIC_CPU,
    1,
    "the NIC of {target} checks the read, finds its memory, and begins the reply",
    optional=True,
)


def no_descriptor(argument: int) -> tuple[int, str]:
    """Of a layer without descriptors: of no queue, and nothing special."""
    return 0, ""


@dataclass(frozen=True)
class Plain:
    """A packet whose header is whole bytes: 16 bits of type, then these fields."""

    type: int
    fields: Mapping[str, tuple[int, str]]
    """Bytes and meaning by name, in order. One named `bytes` is the size of the payload behind them."""
    name: str = ""
    """Kind of packet, such as `ack`; required where a layer has several types of packets."""


@dataclass(frozen=True)
class Shown:
    """What is shown of one layer."""

    stages: tuple[Boundary, ...] = WIRE
    """The stages of a message, in order; one of which a message has no record leaves its time to the next."""
    header_bytes: int = 0
    """Bytes of a packet that are no payload."""
    descriptor: Callable[[int], tuple[int, str]] = no_descriptor
    """What the second argument of NIC_DESCRIPTOR means: the queue, and what the descriptor asks for in words."""
    numbers: Mapping[str, int | type[IntEnum]] = field(default_factory=dict)
    """Identifiers, and tables of named numbers, that `dissector.lua` finds defined: the ones of the firmware."""
    plain: Plain | tuple[Plain, ...] | None = None
    """The fields of its packets, if they are so plain that they need no `dissector.lua`; one entry for each type."""
    calls: tuple[str, ...] = ()
    """Names of the calls of an application, by the number that CALL_START and CALL_END give."""

    @property
    def plain_types(self) -> tuple[Plain, ...]:
        """Types of packets with plain headers, each with its fields.

        Raises:
            ValueError: The layer has several types, and two of them share a type number or a name, or one has no name.
        """
        types = (self.plain,) if isinstance(self.plain, Plain) else self.plain or ()
        names = {one.name for one in types if one.name.isidentifier()}
        if len(types) > 1 and not len(names) == len({one.type for one in types}) == len(types):
            raise ValueError(
                f"plain packets {[(one.name, hex(one.type)) for one in types]}: give each type its own name"
            )
        return types


NOTHING_SAID = Shown()
"""Of a run without a layer, or with one that says nothing: what the hardware does."""
