"""What VIA studies share: processes with registered memory, connected VIs, and where the time of one message goes."""

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
"""Of each user's descriptors."""


@dataclass
class User:
    """A process with memory that is registered under one tag: data from `base`, descriptors from `places`."""

    nic: VipNic
    tag: int
    base: int
    size: int
    handle: int
    places: int
    place_handle: int

    @property
    def process(self) -> Process:
        """Whose memory it is."""
        return self.nic.process

    def descriptor(self, number: int, segments: int = 1) -> Descriptor:
        """A place for a descriptor of so many segments."""
        stride = (32 + 16 * segments + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
        return self.nic.descriptor(self.places + stride * number, self.place_handle)

    def part(self, offset: int, size: int) -> tuple[int, int, int]:
        """A data segment in the registered memory."""
        return self.base + offset, self.handle, size

    def read(self, offset: int, size: int) -> bytes:
        """What stands there."""
        return self.process.load_bytes(self.base + offset, size)

    def write(self, offset: int, data: bytes) -> None:
        """Put bytes there."""
        self.process.store_bytes(self.base + offset, data)


async def user(via: Via, size: int = 1 << 17, rdma_write: bool = False, rdma_read: bool = False) -> User:
    """A new process with so much registered memory."""
    nic = await via.open()
    tag = nic.create_ptag()
    base, places = nic.process.allocate(size), nic.process.allocate(PLACES_BYTES)
    handle = await nic.register_memory(base, size, tag, rdma_write, rdma_read)
    return User(nic, tag, base, size, handle, places, await nic.register_memory(places, PLACES_BYTES, tag))


async def connect(here: User, there: User, node: int, **attributes: Any) -> tuple[Vi, Vi]:
    """A new VI of each, connected; `node` is where `there` is."""
    mine, yours = await here.nic.create_vi(here.tag, **attributes), await there.nic.create_vi(there.tag, **attributes)
    await join(here, mine, there, yours, node)
    return mine, yours


async def join(here: User, mine: Vi, there: User, yours: Vi, node: int, timeout_us: float = 5000) -> None:
    """Connect two VIs; `node` is where `there` is."""

    async def serve() -> None:
        """The server's side."""
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
"""Stage by stage of paper 001, Figure 3.4: its name, the record at which it ends, of which part, of sender or receiver.
A record that a message does not have (nothing is fetched of one that goes inline) leaves its stage to the next one."""


def stages(trace: NDArray[np.void], near: int, far: int, begun: int) -> dict[str, float]:
    """Microseconds of the stages of the first message of one packet that node `near` posted from a time (ps) on, in
    their order; together its way from the call to the receiver's notice. What the NIC does while payload is on its way
    from host memory counts as its processing, only the rest as the way.
    """
    late = trace[trace["time"] >= begun]
    taken = _first(late, TraceEvent.NIC_DESCRIPTOR, unit(near, Part.NIC_CPU))
    call = _first(late, TraceEvent.SEND_CALL, unit(near, Part.HOST_CPU))
    if taken is None or call is None:
        return {}
    mine = late[(late["packet"] == taken["packet"]) | (late["unit"] % PARTS_PER_NODE == Part.HOST_CPU)]
    launch = _first(mine, TraceEvent.NIC_SEND_START, unit(near, Part.NIC_CPU))
    if launch is not None:  # a payload that comes later is waited for by the hardware
        mine = mine[(mine["event"] != TraceEvent.NIC_DMA_DONE) | (mine["time"] <= launch["time"])]
    at, found = int(call["time"]), dict.fromkeys((name for name, *_ in STAGES), 0.0)
    for name, event, part, side in STAGES:
        record = _first(mine[mine["time"] >= at], event, unit(far if side else near, part))
        if record is not None:
            found[name] += (int(record["time"]) - at) / 1e6
            at = int(record["time"])
    return found


def last_call(trace: NDArray[np.void], node: int) -> int:
    """When (ps) a node's host posted its last message; 0: it never did."""
    calls = trace[(trace["event"] == TraceEvent.SEND_CALL) & (trace["unit"] == unit(node, Part.HOST_CPU))]
    return int(calls["time"][-1]) if len(calls) else 0


def _first(trace: NDArray[np.void], event: TraceEvent, where: int) -> Any:
    """The first record of an event of a unit."""
    rows = trace[(trace["event"] == event) & (trace["unit"] == where)]
    return rows[0] if len(rows) else None
