"""VIA on the machine: two or more hosts with the driver loaded, processes with registered memory, connected VIs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from firmware.host.via import Descriptor, Vi, Via, VipNic
from firmware.layers import ClusterView, host_library, nic_program
from pymodels.formats.via import ALIGNMENT, Reliability
from pymodels.host.process import Process
from pymodels.machine import Machine


def start(machine: Machine, **options: int | str) -> list[Via]:
    """The firmware on every NIC, the driver on every host."""
    vias: list[Via] = []
    for node in range(len(machine.names)):
        view = ClusterView(**machine.view(node, **options))
        machine.nic(node).spawn(nic_program("via")(machine.nic(node), view), "via")
        vias.append(host_library("via")(machine.host(node), view))
    machine.finish(*(via.start() for via in vias))
    return vias


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


async def user(via: Via, size: int = 1 << 17, rdma_write: bool = False) -> User:
    """A new process with so much registered memory."""
    nic = await via.open()
    tag = nic.create_ptag()
    base, places = nic.process.allocate(size), nic.process.allocate(1 << 16)
    handle = await nic.register_memory(base, size, tag, rdma_write)
    return User(nic, tag, base, size, handle, places, await nic.register_memory(places, 1 << 16, tag))


async def connect(here: User, there: User, node: int, **attributes: Any) -> tuple[Vi, Vi]:
    """A new VI of each, connected; `node` is where `there` is."""
    mine, yours = await here.nic.create_vi(here.tag, **attributes), await there.nic.create_vi(there.tag, **attributes)

    async def serve() -> None:
        """The server's side."""
        await there.nic.connect_accept(await there.nic.connect_wait(7, 1000), yours)

    task = here.process.spawn(serve(), "server")
    await mine.connect_request(node, 7, 1000)
    await task.finished
    return mine, yours


@dataclass
class Pair:
    """Two processes on two hosts with a connection."""

    machine: Machine
    vias: list[Via]
    here: User
    there: User
    mine: Vi
    yours: Vi


def pair(machine: Machine | None = None, reliability: Reliability = Reliability.UNRELIABLE, **options: Any) -> Pair:
    """Two hosts with a connection of a level."""
    machine = machine or Machine(2)
    vias = start(machine, **options)
    here, there = machine.finish(user(vias[0], rdma_write=True), user(vias[1], rdma_write=True))
    ((mine, yours),) = machine.finish(connect(here, there, 1, reliability=reliability))
    return Pair(machine, vias, here, there, mine, yours)


def pattern(size: int, salt: int = 0) -> bytes:
    """Bytes that no other size and salt has."""
    return bytes((7 * i + (i >> 8) + size + 31 * salt) & 0xFF for i in range(size))
