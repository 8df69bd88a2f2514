"""Shared parts of VIA studies: processes with an open NIC, connected VIs, registered buffers, descriptors."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from firmware.via.formats import ALIGNMENT, Reliability
from firmware.via.nic.layout import State
from pymodels.host.pages import PAGE
from tb.lab.lab import Lab
from tb.studies.kit.hosts import Options, in_pairs, start_together

HEARD_PS = 10_000_000
Choices = Mapping[str, Options]
SMALL: Mapping[str, float | str] = {"vis": 48, "table_words": 8192}
"""Options with few VIs and pages (of 32 MB), whose tables fit in the memory of every NIC."""
CONNECT_US = 1_000_000.0
"""Time-out of a connection request, us."""


@dataclass(frozen=True)
class Memory:
    """Registered memory of a process."""

    va: int
    handle: int
    size: int


class End:
    """Process of one host with its NIC open and one protection tag for all of its resources."""

    def __init__(self, lab: Lab, node: int, process: Any, nic: Any) -> None:
        self.lab, self.node, self.process, self.nic = lab, node, process, nic
        self.host = lab.running.hosts[node]
        self.tag = nic.create_ptag()

    @classmethod
    async def open(cls, lab: Lab, libraries: Sequence[Any], node: int, name: str = "") -> End:
        """Create a process on a node and open its NIC."""
        process = lab.running.hosts[node].process(name)
        return cls(lab, node, process, await libraries[node].open(process))

    async def memory(self, size: int, **rights: bool) -> Memory:
        """Allocate and register memory of whole pages; `rights` are the peers' `rdma_write` and `rdma_read`."""
        va = self.process.allocate(size)
        return Memory(va, await self.nic.register_memory(va, size, self.tag, **rights), size)

    async def forget(self, memory: Memory) -> None:
        """Deregister and free memory."""
        await self.nic.deregister_memory(memory.handle)
        self.process.free(memory.va, memory.size)

    async def vi(self, **attributes: Any) -> Any:
        """Create a VI with the given attributes (`reliability`, `most`)."""
        return await self.nic.create_vi(self.tag, **attributes)


async def start(lab: Lab, options: Mapping[str, float | str] | None = None) -> list[Any]:
    """Start the layer on every host and return the libraries by VNN."""
    libraries = lab.start_layer("via", options)
    await start_together(lab, libraries)
    return libraries


async def ends(lab: Lab, options: Mapping[str, float | str] | None = None) -> tuple[End, End]:
    """Start the layer and return a process on the first host and one on the last."""
    libraries = await start(lab, options)
    return await End.open(lab, libraries, 0, "near"), await End.open(lab, libraries, len(libraries) - 1, "far")


async def pairs(
    lab: Lab, choices: Choices, common: Mapping[str, float | str] | None = None, spare: int = 0
) -> dict[str, tuple[End, End]]:
    """Return two processes on two hosts of their own for each choice of options, by the name of the choice.

    One run then compares systems that differ only in these options. The cluster has two hosts per choice, after `spare`
    hosts that are not used.
    """
    of_host = in_pairs(list(choices.values()), spare)
    libraries = lab.start_layer("via", common, of_host)
    await start_together(lab, [libraries[node] for node in of_host])
    found = {}
    for i, name in enumerate(choices):
        node = spare + 2 * i
        found[name] = await End.open(lab, libraries, node, "near"), await End.open(lab, libraries, node + 1, "far")
    return found


async def join(near: End, near_vi: Any, far: End, far_vi: Any) -> None:
    """Connect two VIs: the far end waits for a connection, the near end requests it."""
    name = zlib.crc32(f"{near.node} {near_vi.number} {far.node} {far_vi.number}".encode())

    async def accept() -> None:
        connection = await far.nic.connect_wait(name, CONNECT_US)
        await far.nic.connect_accept(connection, far_vi)

    lab = near.lab
    await lab.all(
        [
            lab.spawn(accept(), "accept"),
            lab.spawn(near_vi.connect_request(far.node, name, CONNECT_US), "connect"),
        ]
    )


async def wait_for_disconnect(lab: Lab, vi: Any) -> None:
    """Wait until a VI reports that its peer has disconnected."""
    while vi.state is State.CONNECTED:
        await lab.kernel.sleep(HEARD_PS, "the peer to be notified")


async def part(lab: Lab, near_vi: Any, far_vi: Any) -> None:
    """Disconnect two VIs, dequeue flushed descriptors, and destroy the VIs."""
    await near_vi.disconnect()
    await wait_for_disconnect(lab, far_vi)
    await far_vi.disconnect()
    for vi in (near_vi, far_vi):
        while len(vi.sends):
            await vi.poll_send()
        while len(vi.receives):
            await vi.poll_receive()
        await vi.destroy()


def stock(lab: Lab, system: str) -> bool:
    """Return True if `system` (profiles `nic+host`) is a system of the paper and no setting of it or of the layer was
    changed.

    The paper's results must then hold; otherwise the study only measures them.
    """
    profile, settings = lab.plan.profile, lab.plan.request.settings
    return profile.name == system and not any(key in profile.values or key.startswith("via.") for key in settings)


NETFINITY, LINUX = "sp+p3-450", "lanai4+p2-300"
"""Systems of paper 001, 2.3: hosts with SP adapters under NT, and with LANai 4 under Linux."""


class Ring:
    """Descriptors of one work queue, used in turn, each with its own place in a buffer.

    `places` are the buffers' start addresses; a message of `segments` pieces takes them from as many pages.
    """

    def __init__(
        self,
        end: End,
        descriptors: Memory,
        data: Memory,
        places: Sequence[int],
        segments: int = 1,
        shared: bool = False,
    ) -> None:
        """Set up the ring; `shared` is True if the buffers belong to another ring."""
        room = _room(segments)
        self._shared = shared
        self._end, self._memory = end, descriptors
        self._data, self._places, self._segments = data, places, segments
        self._descriptors = [
            end.nic.descriptor(descriptors.va + at, descriptors.handle)
            for at in range(0, descriptors.size - room + 1, room)
        ]
        self._turn = 0

    @classmethod
    async def make(cls, end: End, depth: int, size: int, places: int = 1, segments: int = 1, **rights: Any) -> Ring:
        """Allocate `depth` descriptors and `places` buffers for messages of `size` bytes."""
        stride = -(-max(size, 4) // PAGE) * PAGE if segments == 1 else segments * PAGE * -(-size // (segments * PAGE))
        descriptors = await end.memory(depth * _room(segments))
        data = await end.memory(stride * places, **rights)
        return cls(end, descriptors, data, [data.va + stride * i for i in range(places)], segments)

    async def beside(self, depth: int) -> Ring:
        """Return a ring of `depth` descriptors of another work queue that uses the same buffers."""
        descriptors = await self._end.memory(depth * _room(self._segments))
        return Ring(self._end, descriptors, self._data, self._places, self._segments, shared=True)

    async def close(self) -> None:
        """Release the memory; no descriptor may be posted any more."""
        if not self._shared:
            await self._end.forget(self._data)
        await self._end.forget(self._memory)

    @property
    def data(self) -> Memory:
        """Memory of the buffers."""
        return self._data

    def pieces(self, size: int, place: int) -> list[tuple[int, int, int]]:
        """Return the data segments of a message: equal parts, each in its own pages."""
        va, count, handle = self._places[place % len(self._places)], self._segments, self._data.handle
        part = -(-size // count)
        stride = -(-part // PAGE) * PAGE if count > 1 else 0
        sizes = [max(min(part, size - part * i), 0) for i in range(count)]
        return [(va + stride * i, handle, length) for i, length in enumerate(sizes)]

    def fill(self, size: int, place: int, data: bytes) -> None:
        """Store a message in its buffer."""
        done = 0
        for va, _, length in self.pieces(size, place):
            self._end.process.store_bytes(va, data[done : done + length])
            done += length

    def held(self, size: int, place: int) -> bytes:
        """Return the message in a buffer."""
        return b"".join(self._end.process.load_bytes(va, length) for va, _, length in self.pieces(size, place))

    def next(self) -> Any:
        """Return the next descriptor of the ring."""
        self._turn += 1
        return self._descriptors[(self._turn - 1) % len(self._descriptors)]


def _room(segments: int) -> int:
    """Return the aligned size in bytes of a descriptor with `segments` data segments and an address segment."""
    return -(-(32 + 16 + 16 * segments) // ALIGNMENT) * ALIGNMENT


RELIABILITIES = {
    "unreliable": Reliability.UNRELIABLE,
    "delivery": Reliability.DELIVERY,
    "reception": Reliability.RECEPTION,
}
