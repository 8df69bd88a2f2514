"""Location of a packet on the wires of the example cluster: from the trace of a run without faults to character slots.

Strategy: time does not depend on Python, so a second run with a fault in exactly those slots disturbs exactly that
packet.
"""

from __future__ import annotations

from pymodels.link.crc8 import crc8
from pymodels.topology import End
from pymodels.trace import Part, TraceEvent
from tests.system.runs import LINK_PS, Run
from tests.system.scenarios.faults import Fault

SOURCE, TARGET = 0, 1
BEFORE_SOURCE, BEFORE_SWITCH, BEFORE_TARGET = End("paris", 0), End("s0", 0), End("metz", 0)
SWITCH_FROM_TARGET = End("s0", 1)
GRIM_HEADER = 32
TAILS = {BEFORE_SWITCH: (SOURCE, TraceEvent.TX_TAIL, 4), BEFORE_TARGET: (TARGET, TraceEvent.RX_TAIL, -2)}
"""Unit whose trace records the GAP of a packet, and slots until the cable's end, for each cable."""


def slot_of(clean: Run, cable: End, number: int, length: int) -> int:
    """Return the slot in which the first byte of a packet after its route arrives at the end of a cable.

    Args:
        clean: run without faults.
        cable: end of the cable.
        number: index of the packet on that cable.
        length: bytes of the packet without route and CRC byte; no BEAT is within it.
    """
    node, event, later = TAILS[cable]
    gap = clean.times(node, Part.LINK, event)[number] // LINK_PS + later
    return gap - 1 - length


def last_long(clean: Run, size: int) -> int:
    """Return the number of the last packet of the first host with at least `size` bytes."""
    heads, tails = (clean.times(SOURCE, Part.LINK, event) for event in (TraceEvent.TX_HEAD, TraceEvent.TX_TAIL))
    pairs = enumerate(zip(heads, tails, strict=True))
    return [i for i, (head, tail) in pairs if tail - head >= size * LINK_PS][-1]


def hidden_flip(cable: End, first: int, offset: int, length: int, mask: int) -> list[Fault]:
    """Return flips that CRC-8 cannot detect: byte `offset` of a `length`-byte packet from slot `first`, and its CRC
    byte.
    """
    change = crc8(bytes([mask]) + bytes(length - 1 - offset))
    return [Fault(cable, "flip", first + offset, 1, mask), Fault(cable, "flip", first + length, 1, change)]
