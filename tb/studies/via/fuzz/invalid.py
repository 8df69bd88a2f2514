"""Invalid descriptors, and the status of each."""

from __future__ import annotations

import struct
from collections.abc import Mapping

from firmware.via.formats import Control, Field, Status
from firmware.via.host import Descriptor
from tb.studies.via.fuzz.owner import PLAIN
from tb.studies.via.fuzz.side import Side

HEADS: Mapping[str, tuple[int, int]] = {
    "flags": (1, 0x40),
    "fence": (1, Control.FENCE),
    "no target": (0, Control.RDMA_WRITE),
    "read and immediate": (1, Control.RDMA_READ | Control.IMMEDIATE),
    "both operations": (1, Control.OPERATION),
    "segments": (0xFFFF, 0),
}
"""Numbers of segments and flags of descriptors that request unsupported operations."""
WRONGS = (
    "no handle",
    "beyond",
    "before",
    "around",
    *HEADS,
    "too much",
    "foreign handle",
    "far handle",
    "odd",
)
GARBAGE = ("segments",)
"""Invalid descriptors whose length a NIC that reads them itself cannot determine."""


def wrong_descriptor(what: str, side: Side, other: Side) -> tuple[Descriptor, Status]:
    """Return an invalid descriptor and its status."""
    area, place = side.owner.areas[PLAIN], side.owner.place()
    if what in HEADS:
        place.send([(area.va, area.handle, 8)])
        side.owner.process.store_bytes(place.va + Field.CONTROL, struct.pack(">HH", *HEADS[what]))
        return place, Status.FORMAT_ERROR
    if what == "too much":
        size = side.most // 4 * 4
        return place.send([(area.va, area.handle, min(size, area.size))] * 2), Status.LENGTH_ERROR
    if what == "odd" and not side.owner.nic.host.card.moves_bytes:
        return place.send([(area.va + 1, area.handle, 100)]), Status.FORMAT_ERROR
    segment = {
        "no handle": (area.va, area.handle ^ 1 << 20, 100),
        "far handle": (area.va, area.handle | 0xFFF, 100),
        "beyond": (area.va + area.size - 8, area.handle, 12),
        "before": (area.va - 4, area.handle, 12),
        "around": (0xFFFF_FFF0, area.handle, 0x20),
        "odd": (0xFFFF_FFF0, area.handle, 0x20),
        "foreign handle": (area.va, other.owner.areas[PLAIN].handle + (1 << 12), 100),
    }[what]
    return place.send([segment]), Status.PROTECTION_ERROR
