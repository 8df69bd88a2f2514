"""Kernel's buffer for incoming RDMA writes: a ring of slots in host memory, each for one packet."""

from __future__ import annotations

from enum import IntEnum

from pymodels.codes import quick


@quick
class WriteSlot(IntEnum):
    """Byte offsets in the header of a slot, which the packet's payload follows [NIC]."""

    VA = 0
    HANDLE = 4
    SIZE = 8
    VI = 12
    """`SlotWord`."""


SLOT_HEADER, SLOTS = 16, 32
CONFIRM = 1 << 30
"""Flag of the last packet of a message, which is acknowledged once the packet is copied."""
GENERATION = (1 << 22) - 1
"""Mask of the bits of a VI's generation in a slot."""


def slot_bytes(packet: int) -> int:
    """Return the size of a slot in bytes."""
    return SLOT_HEADER + packet
