"""What studies of VIA share: processes that have opened their NIC, connected VIs, registered buffers, descriptors."""

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
"""So many VIs and pages (of 32 MB) have tables in the memory of every NIC."""
CONNECT_US = 1_000_000.0
"""Patience with a peer that connects."""


@dataclass(frozen=True)
class Memory:
    """Registered memory of a process."""

    va: int
    handle: int
    size: int


class End:
    """A process of one host with its NIC open, one protection tag for everything it has."""

    def __init__(self, lab: Lab, node: int, process: Any, nic: Any) -> None:
        self.lab, self.node, self.process, self.nic = lab, node, process, nic
        self.host = lab.running.hosts[node]
        self.tag = nic.create_ptag()

    @classmethod
    async def open(cls, lab: Lab, libraries: Sequence[Any], node: int, name: str = "") -> End:
        """A new process on a node."""
        process = lab.running.hosts[node].process(name)
        return cls(lab, node, process, await libraries[node].open(process))

    async def memory(self, size: int, **rights: bool) -> Memory:
        """New registered memory, whole pages; what peers may do with it: `rdma_write`, `rdma_read`."""
        va = self.process.allocate(size)
        return Memory(va, await self.nic.register_memory(va, size, self.tag, **rights), size)

    async def forget(self, memory: Memory) -> None:
        """Deregister it, and give it back."""
        await self.nic.deregister_memory(memory.handle)
        self.process.free(memory.va, memory.size)

    async def vi(self, **attributes: Any) -> Any:
        """A new VI (`reliability`, `most`)."""
        return await self.nic.create_vi(self.tag, **attributes)


async def start(lab: Lab, options: Mapping[str, float | str] | None = None) -> list[Any]:
    """The layer on every host. The libraries by VNN."""
    libraries = lab.start_layer("via", options)
    await start_together(lab, libraries)
    return libraries


async def ends(lab: Lab, options: Mapping[str, float | str] | None = None) -> tuple[End, End]:
    """A process on the first host and one on the last."""
    libraries = await start(lab, options)
    return await End.open(lab, libraries, 0, "near"), await End.open(lab, libraries, len(libraries) - 1, "far")


async def pairs(
    lab: Lab, choices: Choices, common: Mapping[str, float | str] | None = None, spare: int = 0
) -> dict[str, tuple[End, End]]:
    """For each choice of options two hosts of their own, by name: one run compares what only differs in options.

    The cluster has two hosts for each of them, behind `spare` hosts that are left alone.
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
    """Connect two VIs: the far end waits, the near one asks."""
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


async def heard(lab: Lab, vi: Any) -> None:
    """Until a VI knows that its peer has disconnected."""
    while vi.state is State.CONNECTED:
        await lab.kernel.sleep(HEARD_PS, "the peer to be notified")


async def part(lab: Lab, near_vi: Any, far_vi: Any) -> None:
    """Disconnect two VIs, take back what was flushed, and destroy them."""
    await near_vi.disconnect()
    await heard(lab, far_vi)
    await far_vi.disconnect()
    for vi in (near_vi, far_vi):
        while len(vi.sends):
            await vi.poll_send()
        while len(vi.receives):
            await vi.poll_receive()
        await vi.destroy()


def stock(lab: Lab, system: str) -> bool:
    """Whether this is a system of the paper (profile `nic+host`), and nothing of it or of the layer was set by hand:
    what the paper says of it must hold. Elsewhere it is what the study finds out.
    """
    profile, settings = lab.plan.profile, lab.plan.request.settings
    return profile.name == system and not any(key in profile.values or key.startswith("via.") for key in settings)


NETFINITY, LINUX = "sp+p3-450", "lanai4+p2-300"
"""The systems of paper 001, 2.3: hosts with SP adapters under NT, and with LANai 4 under Linux."""


class Ring:
    """Descriptors of one work queue, used round and round, each with its own place in a buffer.

    `places` are the beginnings of the buffers by turn; a message of `segments` pieces takes them from as many pages.
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
        """`shared`: the buffers are another ring's."""
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
        """`depth` descriptors, and `places` buffers for messages of `size` bytes."""
        stride = -(-max(size, 4) // PAGE) * PAGE if segments == 1 else segments * PAGE * -(-size // (segments * PAGE))
        descriptors = await end.memory(depth * _room(segments))
        data = await end.memory(stride * places, **rights)
        return cls(end, descriptors, data, [data.va + stride * i for i in range(places)], segments)

    async def beside(self, depth: int) -> Ring:
        """So many descriptors of another work queue for the same buffers."""
        descriptors = await self._end.memory(depth * _room(self._segments))
        return Ring(self._end, descriptors, self._data, self._places, self._segments, shared=True)

    async def close(self) -> None:
        """Give its memory back; nothing is posted any more."""
        if not self._shared:
            await self._end.forget(self._data)
        await self._end.forget(self._memory)

    @property
    def data(self) -> Memory:
        """Where the buffers stand."""
        return self._data

    def pieces(self, size: int, place: int) -> list[tuple[int, int, int]]:
        """Data segments of a message: equal parts, each in pages of its own."""
        va, count, handle = self._places[place % len(self._places)], self._segments, self._data.handle
        part = -(-size // count)
        stride = -(-part // PAGE) * PAGE if count > 1 else 0
        sizes = [max(min(part, size - part * i), 0) for i in range(count)]
        return [(va + stride * i, handle, length) for i, length in enumerate(sizes)]

    def fill(self, size: int, place: int, data: bytes) -> None:
        """Put a message into its buffer."""
        done = 0
        for va, _, length in self.pieces(size, place):
            self._end.process.store_bytes(va, data[done : done + length])
            done += length

    def held(self, size: int, place: int) -> bytes:
        """The message in a buffer."""
        return b"".join(self._end.process.load_bytes(va, length) for va, _, length in self.pieces(size, place))

    def next(self) -> Any:
        """The next descriptor's place."""
        self._turn += 1
        return self._descriptors[(self._turn - 1) % len(self._descriptors)]


def _room(segments: int) -> int:
    """Bytes of a descriptor of so many data segments and an address segment, aligned."""
    return -(-(32 + 16 + 16 * segments) // ALIGNMENT) * ALIGNMENT


RELIABILITIES = {
    "unreliable": Reliability.UNRELIABLE,
    "delivery": Reliability.DELIVERY,
    "reception": Reliability.RECEPTION,
}
