"""Shared parts of VIA studies: processes with registered memory, connected VIs, and stage times of one message."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firmware.via.formats import ALIGNMENT
from firmware.via.host import Descriptor, Vi, Via, VipNic
from pymodels.host.process import Process
from pymodels.trace import PARTS_PER_NODE, Part, TraceEvent, unit

DISCRIMINATOR = 7
PLACES_BYTES = 1 << 16
"""Size in bytes of the memory for each user's descriptors."""


@dataclass
class User:
    """Process with memory registered under one tag: data from address `base`, descriptors from address `places`."""

    nic: VipNic
    tag: int
    base: int
    size: int
    handle: int
    places: int
    place_handle: int

    @property
    def process(self) -> Process:
        """Process that owns the memory."""
        return self.nic.process

    def descriptor(self, number: int, segments: int = 1) -> Descriptor:
        """Return descriptor number `number`, with room for `segments` data segments."""
        stride = (32 + 16 * segments + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
        return self.nic.descriptor(self.places + stride * number, self.place_handle)

    def part(self, offset: int, size: int) -> tuple[int, int, int]:
        """Return a data segment (address, memory handle, size) at an offset in the registered memory."""
        return self.base + offset, self.handle, size

    def read(self, offset: int, size: int) -> bytes:
        """Return `size` bytes at an offset in the registered memory."""
        return self.process.load_bytes(self.base + offset, size)

    def write(self, offset: int, data: bytes) -> None:
        """Store bytes at an offset in the registered memory."""
        self.process.store_bytes(self.base + offset, data)


async def user(via: Via, size: int = 1 << 17, rdma_write: bool = False, rdma_read: bool = False) -> User:
    """Create a process with `size` bytes of registered memory."""
    nic = await via.open()
    tag = nic.create_ptag()
    base, places = nic.process.allocate(size), nic.process.allocate(PLACES_BYTES)
    handle = await nic.register_memory(base, size, tag, rdma_write, rdma_read)
    return User(nic, tag, base, size, handle, places, await nic.register_memory(places, PLACES_BYTES, tag))


async def connect(here: User, there: User, node: int, **attributes: Any) -> tuple[Vi, Vi]:
    """Create a VI on each side and connect them; `node` is the node of `there`."""
    mine, yours = await here.nic.create_vi(here.tag, **attributes), await there.nic.create_vi(there.tag, **attributes)
    await join(here, mine, there, yours, node)
    return mine, yours


async def join(here: User, mine: Vi, there: User, yours: Vi, node: int, timeout_us: float = 5000) -> None:
    """Connect two VIs; `node` is the node of `there`."""

    async def serve() -> None:
        """Accept the connection on the server's side."""
        await there.nic.connect_accept(await there.nic.connect_wait(DISCRIMINATOR, timeout_us), yours)

    task = there.process.spawn(serve(), "server")
    await mine.connect_request(node, DISCRIMINATOR, timeout_us)
    await task.finished


STAGES = (
    ("host", TraceEvent.SEND_RETURN, Part.HOST_CPU, 0),
    ("nic_send", TraceEvent.NIC_DMA_START, Part.NIC_CPU, 0),
    ("host_memory_to_nic", TraceEvent.NIC_DMA_DONE, Part.NIC_CPU, 0),
    ("nic_send", TraceEvent.NIC_SEND_START, Part.NIC_CPU, 0),
    ("host_memory_to_nic", TraceEvent.TX_START, Part.NET_SEND, 0),
    ("nic_to_link", TraceEvent.TX_HEAD, Part.LINK, 0),
    ("switch_and_link", TraceEvent.RX_TAIL, Part.NET_RECV, 1),
    ("nic_receive", TraceEvent.NIC_ACCEPT, Part.NIC_CPU, 1),
    ("to_user_buffer", TraceEvent.POLL_HIT, Part.HOST_CPU, 1),
)
"""Stages of paper 001, Figure 3.4: name, event of the record that ends it, part, and side (0 sender, 1 receiver).

If a message has no such record (no DMA for an inline message), the time of the stage counts for the next one.
"""


def stages(trace: NDArray[np.void], near: int, far: int, begun: int) -> dict[str, float]:
    """Return the time in us of each stage of one single-packet message, in order.

    The message is the first that node `near` posted at or after `begun` (ps). The stages together cover the time from
    the call until the receiver notices the message. Work of the NIC during the DMA of the payload counts as its
    processing; only the rest of the DMA counts as transfer.
    """
    late = trace[trace["time"] >= begun]
    taken = _first(late, TraceEvent.NIC_DESCRIPTOR, unit(near, Part.NIC_CPU))
    call = _first(late, TraceEvent.SEND_CALL, unit(near, Part.HOST_CPU))
    if taken is None or call is None:
        return {}
    mine = late[(late["packet"] == taken["packet"]) | (late["unit"] % PARTS_PER_NODE == Part.HOST_CPU)]
    launch = _first(mine, TraceEvent.NIC_SEND_START, unit(near, Part.NIC_CPU))
    if launch is not None:  # the hardware waits for a later payload
        mine = mine[(mine["event"] != TraceEvent.NIC_DMA_DONE) | (mine["time"] <= launch["time"])]
    at, found = int(call["time"]), dict.fromkeys((name for name, *_ in STAGES), 0.0)
    for name, event, part, side in STAGES:
        record = _first(mine[mine["time"] >= at], event, unit(far if side else near, part))
        if record is not None:
            found[name] += (int(record["time"]) - at) / 1e6
            at = int(record["time"])
    return found


def last_call(trace: NDArray[np.void], node: int) -> int:
    """Return the time (ps) at which a node's host posted its last message, or 0."""
    calls = trace[(trace["event"] == TraceEvent.SEND_CALL) & (trace["unit"] == unit(node, Part.HOST_CPU))]
    return int(calls["time"][-1]) if len(calls) else 0


def _first(trace: NDArray[np.void], event: TraceEvent, where: int) -> Any:
    """Return the first record of an event of a unit, or None."""
    rows = trace[(trace["event"] == event) & (trace["unit"] == where)]
    return rows[0] if len(rows) else None
