"""The kernel's buffer for RDMA writes that arrive: a ring of slots in host memory, each for one packet."""

from __future__ import annotations

from enum import IntEnum

from pymodels.codes import quick


@quick
class WriteSlot(IntEnum):
    """A slot of the kernel's buffer for RDMA writes, byte offsets; the payload of a packet stands behind it [NIC]."""

    VA = 0
    HANDLE = 4
    SIZE = 8
    VI = 12
    """`SlotWord`."""


SLOT_HEADER, SLOTS = 16, 32
CONFIRM = 1 << 30
"""The message is complete with this piece, and is answered when it is copied."""
GENERATION = (1 << 22) - 1
"""The bits of a VI's generation that a slot has."""


def slot_bytes(packet: int) -> int:
    """Bytes of a slot."""
    return SLOT_HEADER + packet
