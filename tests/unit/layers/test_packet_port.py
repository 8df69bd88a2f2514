"""Packet port: one interface for different NICs.

Strategy: one small firmware on the machine, two nodes, every kind of NIC. Random packets are fetched from host memory
or given by the processor, launched in order, and delivered in random pieces. After each packet its number is stored.
Host memory at the end is compared with the sent packets, and the order of events with the interface's definition. A
packet damaged on the wire must be reported as such.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest

from firmware.common.nic import packet_port, serve
from firmware.common.nic.packets import PacketPort
from firmware.common.nic.ports import chain_heads
from firmware.verbs import Nic
from firmware.via.formats import REST, Header, Kind
from firmware.view import ClusterView
from pymodels.machine import Machine

KINDS = ("lanai9", "sp")
ADDRESS, BYTES = 0x40000, 1 << 18
BASE = 0x8000
"""First SRAM address of the port's memory."""


@dataclass
class Ends:
    """State shared by both firmwares and the test."""

    packets: list[bytes]
    rng: random.Random
    inline: int = 8
    took: list[tuple[int, int, int, bool]] = field(default_factory=list)
    """Source, second header word, size and validity of every packet, in order of arrival."""
    firsts: list[tuple[int, int]] = field(default_factory=list)
    """First two payload words of the received packets."""
    done: int = 0
    stored: list[int] = field(default_factory=list)
    """Value of `stored` at each event."""


class Sending:
    """Firmware that fetches and launches packets."""

    def __init__(self, port: PacketPort, ends: Ends, source: int) -> None:
        self.port, self.ends, self.source = port, ends, source
        self.asked = self.here = self.out = 0

    async def go_on(self) -> None:
        """Fetch ahead while there is room, and launch complete fetches."""
        ends, port = self.ends, self.port
        while self.asked < len(ends.packets):
            data = ends.packets[self.asked]
            if len(data) > ends.inline:
                if not port.room(len(data)):
                    break
                await port.fetch(self.source + 2048 * self.asked + self.asked % 2 * 4, len(data))
                self.here += port.waits
            self.asked += 1
        while self.out < self.asked and port.ready():
            data = ends.packets[self.out]
            header = Header(0, 0, self.out, len(data) & REST, 1, Kind.SEND, True, True, self.out & 0xFF).words()
            if len(data) <= ends.inline:
                await port.launch(1, header, len(data), data)
            elif self.here:
                self.here -= 1
                await port.launch(1, header, len(data))
            else:
                break
            self.out += 1

    async def fetched(self) -> None:
        """Count a complete fetch."""
        self.here += not self.port.waits
        await self.go_on()

    async def launched(self) -> None:
        """Continue with the next packet."""
        await self.go_on()

    async def arrived(self) -> None:
        """Do nothing: the sender receives no packets."""
        raise AssertionError

    async def stored(self) -> None:
        """Do nothing: the sender stores nothing."""
        raise AssertionError


class Receiving:
    """Firmware that delivers packets in pieces, followed by a word each."""

    def __init__(self, port: PacketPort, ends: Ends, target: int, marks: int) -> None:
        self.port, self.ends, self.target, self.marks = port, ends, target, marks

    async def arrived(self) -> None:
        """Take a packet, damaged or not."""
        ends, port, packet = self.ends, self.port, self.port.head()
        number = len(ends.took)
        ends.took.append((packet.source, packet.header[1], packet.size, packet.good))
        if packet.good:
            ends.firsts.append(await port.inline())
            at = 0
            while at < packet.size:
                piece = min(4 * ends.rng.randrange(1, 300), packet.size - at)
                await port.deliver(self.target + 2048 * number + at, piece)
                at += piece
            await port.store(self.marks + 16 * number, (number + 1, packet.size, *[7] * ends.rng.randrange(3)))
        await port.drop()
        ends.done += 1

    async def stored(self) -> None:
        """Record the count of stores."""
        self.ends.stored.append(self.port.stored)

    async def fetched(self) -> None:
        """Do nothing: the receiver sends no packets."""
        raise AssertionError

    async def launched(self) -> None:
        """Do nothing: the receiver sends no packets."""
        raise AssertionError


def run(machine: Machine, ends: Ends) -> tuple[bytes, list[tuple[int, ...]]]:
    """Send all packets from node 0 to node 1, and return the contents of node 1's memory, and the marks."""
    for host in machine.hosts:
        assert host.allocate(BYTES + ADDRESS, 4096).address <= ADDRESS
    source, target, marks = ADDRESS, ADDRESS, ADDRESS + BYTES - 4096
    for number, data in enumerate(ends.packets):
        machine.host(0).store_bytes(source + 2048 * number + number % 2 * 4, data)

    async def program(node: int, nic: Nic) -> None:
        for chain, block in chain_heads(BASE, 2).items() if nic.kind == "lanai9" else ():
            machine.nic(node).dma.lists[chain] = block
        port = packet_port(nic, ClusterView(**machine.view(node)), BASE, 1024)
        if node:
            await serve(nic, port.services(Receiving(port, ends, target, marks)))
        sending = Sending(port, ends, source)
        services = port.services(sending)
        await sending.go_on()
        await serve(nic, services)

    for node in range(len(machine.nics)):
        nic = machine.processor(node)
        nic.spawn(program(node, nic), "program")
    machine.run(until_us=20_000)
    assert machine.network.in_flight() == 0
    words = [machine.host(1).load_words(marks + 16 * number, 2) for number in range(len(ends.packets))]
    return machine.host(1).load_bytes(target, 2048 * len(ends.packets)), words


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_random_packets_and_their_marks_arrive_in_order(kind: str, seed: int) -> None:
    rng = random.Random(seed)
    packets = [rng.randbytes(4 * rng.choice([1, 2, 3, 50, 256])) for _ in range(25)]
    ends = Ends(packets, rng)
    memory, marks = run(Machine(2, seed, nic=kind), ends)
    for number, data in enumerate(packets):
        assert memory[2048 * number : 2048 * number + len(data)] == data
    assert marks == [(number + 1, len(data)) for number, data in enumerate(packets)]
    assert [(source, size, good) for source, _, size, good in ends.took] == [(0, len(data), True) for data in packets]
    assert ends.firsts == [
        (int.from_bytes(data[:4], "big"), int.from_bytes(data[4:8].ljust(4, b"\0"), "big")) for data in packets
    ]
    assert ends.stored == sorted(ends.stored) and ends.stored[-1] == len(packets)


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_packet_is_reported_and_its_neighbours_are_valid(kind: str) -> None:
    machine = Machine(2, nic=kind)
    machine.faults.corrupt(0, 1, 2, offset=200, mask=4)
    packets = [bytes([number]) * 400 for number in range(5)]
    ends = Ends(packets, random.Random(1))
    memory, marks = run(machine, ends)
    assert [good for *_, good in ends.took] == [number != 2 for number in range(5)]
    assert [memory[2048 * number : 2048 * number + 400] == packets[number] for number in range(5)] == [
        number != 2 for number in range(5)
    ]
    assert [mark for mark, _ in marks] == [1, 2, 0, 4, 5]
