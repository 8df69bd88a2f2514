"""Report data of a message layer: stages of its messages, and meanings of its numbers and packet fields.

A layer defines `SHOWN` in `shown.py` of its folder (`firmware.layers.shown`), and the fields of its packets in
`dissector.lua` beside it, or as `Plain` headers. Each part is optional. Reports, `make explain` and the Wireshark
dissector use only this data and name no layer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Flag, IntEnum, auto

from pymodels.trace import Part, TraceEvent


class Waits(Flag):
    """Causes of waiting in a stage of a message."""

    PROCESSOR = auto()
    """A processor that is busy with other work."""
    OWN_PACKETS = auto()
    """The send engine, busy with earlier packets of the same message."""
    ENGINE = auto()
    """The send engine, busy with any packet."""
    SWITCH = auto()
    """A switch's output, or the turn at the input."""
    LINK = auto()
    """GO on the cable."""
    DMA = auto()
    """The host DMA, busy with other messages."""


NOTHING = Waits(0)


@dataclass(frozen=True)
class Boundary:
    """End of a stage: a trace event of a part of the sending (0) or receiving (1) node."""

    stage: str
    event: TraceEvent
    part: Part
    side: int
    sentence: str
    """Sentence that describes the stage, with the fields {source}, {target}, {bytes}, {way} and {answers}."""
    waits: Waits = NOTHING
    first: bool = False
    """True if the stage ends at the first such record; otherwise it ends at the last (a rejected message is sent
    again).
    """
    block: str = ""
    """Host DMA blocks that the boundary applies to."""
    optional: bool = False
    """True if the stage is left out where it has taken no time."""


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
"""Stages of the hardware between two NICs."""
NIC_NOTICES = Boundary(
    "nic_notices",
    TraceEvent.NIC_RECV_START,
    Part.NIC_CPU,
    1,
    "the NIC of {target} reaches the packet in its polling loop",
    Waits.PROCESSOR,
)


def send_stages(
    sends: str, orders: str, order: str, load: str, names: tuple[str, str] = ("host_send", "host_order")
) -> tuple[Boundary, ...]:
    """Return the stages from a host's copy into a send buffer to the start of the NIC's send engine.

    Args:
        sends: Description of the CPU's work in the first stage.
        orders: Description of the CPU's work in the second stage.
        order: One word for what crosses the bus.
        load: One word for what the NIC needs room for.
        names: Names of the first two stages.
    """
    return (
        Boundary(names[0], TraceEvent.PAYLOAD_WRITTEN, Part.HOST_CPU, 0, sends),
        Boundary(names[1], TraceEvent.POINTER_WRITTEN, Part.HOST_CPU, 0, orders),
        Boundary(
            "bus_and_turn",
            TraceEvent.NIC_NOTICED,
            Part.NIC_CPU,
            0,
            f"the {order} crosses the bus, and waits at the NIC of {{source}} for its turn and room for the {load}",
            Waits.PROCESSOR | Waits.OWN_PACKETS | Waits.ENGINE,
        ),
        NIC_SEND,
    )


def receive_stages(receives: str, seen: str, name: str = "host_notices") -> tuple[Boundary, ...]:
    """Return the stages from a packet's arrival at the NIC until the CPU sees the message in host memory.

    Args:
        receives: Description of the NIC's work.
        seen: Description of the last stage.
        name: Name of the last stage.
    """
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
"""Last stage of a message whose other records end earlier."""
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
    """Return the meaning of a descriptor in a layer without descriptors: queue 0, no words."""
    return 0, ""


@dataclass(frozen=True)
class Plain:
    """Packet header of whole bytes: a 16-bit type, then the given fields."""

    type: int
    fields: Mapping[str, tuple[int, str]]
    """Size in bytes and meaning of each field by name, in order. A field `bytes` is the size of the payload."""
    name: str = ""
    """Kind of packet, such as `ack`. Required for a layer with several types of packets."""


@dataclass(frozen=True)
class Shown:
    """Report data of one layer."""

    stages: tuple[Boundary, ...] = WIRE
    """Stages of a message, in order. A stage without a record leaves its time to the next stage."""
    header_bytes: int = 0
    """Bytes of a packet before the payload."""
    descriptor: Callable[[int], tuple[int, str]] = no_descriptor
    """Return queue and operation, in words, that the second argument of NIC_DESCRIPTOR encodes."""
    numbers: Mapping[str, int | type[IntEnum]] = field(default_factory=dict)
    """Identifiers and enumerations of the firmware that are predefined in `dissector.lua`."""
    plain: Plain | tuple[Plain, ...] | None = None
    """Plain packet headers, one for each type, of a layer without `dissector.lua`."""
    calls: tuple[str, ...] = ()
    """Names of an application's calls, by the number in CALL_START and CALL_END records."""

    @property
    def plain_types(self) -> tuple[Plain, ...]:
        """Packet types with plain headers.

        Raises:
            ValueError: The layer has several types, and two of them share a number or a name, or one has no name.
        """
        types = (self.plain,) if isinstance(self.plain, Plain) else self.plain or ()
        names = {one.name for one in types if one.name.isidentifier()}
        if len(types) > 1 and not len(names) == len({one.type for one in types}) == len(types):
            raise ValueError(
                f"plain packets {[(one.name, hex(one.type)) for one in types]}: give each type its own name"
            )
        return types


HARDWARE_SHOWN = Shown()
"""Report data of a run without a layer, or of a layer without `SHOWN`: the hardware's stages only."""
