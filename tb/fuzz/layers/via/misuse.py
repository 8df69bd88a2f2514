"""Wrong descriptors with the status that each gets, and wrong calls, each of which VipError must refuse."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Any

from firmware.host.via import Descriptor
from pymodels.formats.via import Control, Field, Status
from tb.fuzz.layers.via.owner import PLAIN
from tb.fuzz.layers.via.side import Side


def wrong_send(what: str, side: Side, other: Side) -> tuple[Descriptor, Status]:
    """A send that is wrong, and its status."""
    area, place = side.owner.areas[PLAIN], side.owner.place()
    if what in ("flags", "no target", "segments"):
        place.send([] if what != "flags" else [(area.va, area.handle, 8)])
        count, flags = {"flags": (1, 0x40), "no target": (0, Control.RDMA_WRITE), "segments": (0xFFFF, 0)}[what]
        side.owner.process.store_bytes(place.va + Field.CONTROL, struct.pack(">HH", count, flags))
        return place, Status.FORMAT_ERROR
    if what == "too much":
        size = side.most // 4 * 4
        return place.send([(area.va, area.handle, min(size, area.size))] * 2), Status.LENGTH_ERROR
    segment = {
        "no handle": (area.va, area.handle ^ 1 << 20, 100),
        "beyond": (area.va + area.size - 8, area.handle, 12),
        "before": (area.va - 4, area.handle, 12),
        "around": (0xFFFF_FFF0, area.handle, 0x20),
        "foreign handle": (area.va, other.owner.areas[PLAIN].handle + (1 << 12), 64),
    }[what]
    return place.send([segment]), Status.PROTECTION_ERROR


def _foreign(side: Side) -> int:
    """A handle of another process of the same host."""
    owners = side.cluster.owners[side.owner.node]
    return owners[1 - side.owner.number].areas[PLAIN].handle


def _queue(side: Side) -> Any:
    used = next((queue for queue in side.queues if queue is not None), None)
    return side.owner.nic.create_cq(5000) if used is None else used.destroy()


def _nothing(side: Side) -> Any:
    return side.vi.poll_send() if not side.sends.posted else side.owner.nic.create_cq(-1)


MISUSES: Mapping[str, Callable[[Side, Side], Any]] = {
    "nowhere": lambda side, other: side.vi.connect_request(99, 1, 100),
    "itself": lambda side, other: side.vi.connect_request(side.owner.node, 1, 100),
    "other tag": lambda side, other: side.owner.nic.register_memory(side.owner.areas[PLAIN].va, 64, 9999),
    "connecting twice": lambda side, other: side.vi.connect_request(other.owner.node, 1, 100),
    "destroying too early": lambda side, other: side.vi.destroy(),
    "no memory": lambda side, other: side.owner.nic.deregister_memory(0x7777_7001),
    "foreign memory": lambda side, other: side.owner.nic.deregister_memory(_foreign(side)),
    "memory in use": lambda side, other: side.owner.nic.query_memory(_foreign(side)),
    "no queue": lambda side, other: side.owner.nic.create_cq(0),
    "queue in use": lambda side, other: _queue(side),
    "nothing posted": lambda side, other: _nothing(side),
    "misaligned": lambda side, other: side.owner.nic.descriptor(side.owner.areas[PLAIN].va + 4, 0),
    "nobody asks": lambda side, other: side.owner.nic.connect_wait(12_345, 50),
}
"""Calls of one side, which knows the other."""
