"""Do the packets of SP adapters arrive whole and in order when all send to all over SP switches, and receivers pause?

Strategy: no firmware; each node's adapter is driven by its registers. User data are determined by source, destination
and number: short ones are written by the processor, long ones fetched from host memory. A receiver compares headers and
data with the next expected packet of that source. The compared data are those that the left engine stored in host
memory. It pauses between packets, so that links stop and the central queues fill. A packet that the adapter reports as
bad is dropped and counted, and the following numbers must continue.
"""

from __future__ import annotations

import random
from typing import Any

from pymodels.formats.sp import MAX_USER, SpPacket
from pymodels.nics.sp.registers import RecvStatus, SpReg, SpStatus, fetch_command, store_command
from pymodels.trace import TraceEvent
from tb.lab.lab import Lab
from tb.plan.options import Option
from tests.system.scenarios import faults

OPTIONS = {
    "each": Option(2, "packets from each node to each other", 1, 1000),
    "largest": Option(300, "most user bytes", 0, MAX_USER),
    "pause_us": Option(3, "a receiver pauses for up to so long after a packet", 0, 10_000),
    "wait_us": Option(300, "without a packet for so long, a receiver stops waiting", 1, 100_000),
    **faults.OPTIONS,
}
OWN = 64
"""Maximum user bytes that the processor can write."""
LOOK_PS, DRAIN_PS, US = 500_000, 3_000_000, 1_000_000
BAD = 1 << RecvStatus.BAD_CRC | 1 << RecvStatus.BAD_SIZE
SIZE = 0xFFF


def user_data(seed: int, source: int, target: int, number: int, largest: int) -> bytes:
    """Return the user bytes of one packet, which also determine its size."""
    draw = random.Random(f"{seed}.{source}.{target}.{number}")
    return draw.randbytes(draw.choice((0, 8, 40, draw.randint(0, largest))) if largest > OWN else largest)


async def run(lab: Lab) -> None:
    """Run the scenario."""
    nodes = [_Node(lab, vnn) for vnn in range(len(lab.running.nics))]
    faults.inject(lab)
    lab.running.invariants.faults_expected |= lab.lossy
    await lab.all([lab.spawn(task, name) for node in nodes for task, name in node.tasks()])
    lab.metric("arrived", sum(node.arrived for node in nodes))
    lab.metric("bad", sum(node.bad for node in nodes))
    lab.metric("missing", sum(node.missing for node in nodes))
    trace = lab.trace()
    lab.metric("queued_packets", int((trace["event"] == TraceEvent.SWITCH_QUEUE).sum()))
    faults.hand_in_explained(lab)


class _Node:
    """Packets that one node sends and expects."""

    def __init__(self, lab: Lab, vnn: int) -> None:
        self.lab, self.vnn = lab, vnn
        self.nic: Any = lab.running.nics[vnn]
        self.host = lab.running.hosts[vnn]
        self.nodes, self.each = len(lab.running.nics), lab.option("each")
        self.random = random.Random(f"{lab.seed}.{vnn}")
        self.next = [0] * self.nodes
        """Next expected number from each source."""
        self.arrived = self.bad = self.missing = 0

    def tasks(self) -> list[tuple[Any, str]]:
        """Return the tasks of the node with their names."""
        return [(self._send(), f"sender {self.vnn}"), (self._receive(), f"receiver {self.vnn}")]

    def data(self, source: int, target: int, number: int) -> bytes:
        """Return the user bytes of one packet."""
        return user_data(self.lab.seed, source, target, number, self.lab.option("largest"))

    async def _until(self, bit: int) -> None:
        while not await self.nic.read(SpReg.STATUS) >> bit & 1:
            await self.lab.kernel.sleep(LOOK_PS, "the next look at STATUS")

    async def _send(self) -> None:
        nic, routes = self.nic, self.lab.plan.cluster.routes_from(self.vnn)
        buffer = self.host.allocate(4096)
        others = [vnn for vnn in range(self.nodes) if vnn != self.vnn] * self.each
        numbers = [0] * self.nodes
        for target in self.random.sample(others, len(others)):
            data = self.data(self.vnn, target, numbers[target])
            packet = SpPacket(
                routes[target], self.vnn, target, (self.vnn << 24 | target << 16 | numbers[target], 0), data
            )
            numbers[target] += 1
            await self._until(SpStatus.SEND_FREE)
            for index, word in enumerate((*packet.header.words(), *packet.via)):
                nic.write(SpReg.SEND0 + 4 * index, word)
            await self._give(data, buffer)

    async def _give(self, data: bytes, buffer: Any) -> None:
        """Supply the user data of a packet with written headers, and start it."""
        nic = self.nic
        if len(data) <= OWN:
            for at in range(0, len(data), 4):
                nic.write(SpReg.OWN0 + at, int.from_bytes(data[at : at + 4].ljust(4, b"\0"), "big"))
            nic.write(SpReg.SEND_START, len(data) << 16)
            return
        self.host.memory[buffer.address : buffer.address + len(data)] = data
        nic.write(SpReg.COMMAND_HIGH, fetch_command(len(data)))
        nic.write(SpReg.COMMAND_LOW, buffer.address)
        await self._until(SpStatus.LEFT_IDLE)
        nic.write(SpReg.SEND_START, len(data))

    async def _receive(self) -> None:
        expected = self.each * (self.nodes - 1)
        memory = self.host.allocate(4096)
        quiet = 0
        while self.arrived + self.bad < expected and quiet * LOOK_PS < self.lab.option("wait_us") * US:
            if not await self.nic.read(SpReg.STATUS) >> SpStatus.ARRIVED & 1:
                quiet += 1
                await self.lab.kernel.sleep(LOOK_PS, "the next look at STATUS")
                continue
            quiet = 0
            await self._take(memory)
            await self.lab.kernel.sleep(
                self.random.randint(0, self.lab.option("pause_us")) * US, "the end of its pause"
            )
        self.missing = expected - self.arrived - self.bad

    async def _take(self, memory: Any) -> None:
        """Receive the packet at the head: drop a bad one, compare a good one with the expected packet."""
        nic = self.nic
        status = await nic.read(SpReg.RECV_STATUS)
        words = [await nic.read(SpReg.RECV0 + 4 * index) for index in range(6)]
        size = status & SIZE
        if status & BAD:
            self.bad += 1
            nic.write(SpReg.RECV_NEXT, 0)
            await self._until(SpStatus.LEFT_IDLE)
            return
        source, number = words[4] >> 24, words[4] & 0xFFFF
        here = f"{source} -> {self.vnn}"
        self.lab.check(
            "destination of packets", words[3] >> 16 == self.vnn, f"{here}: a packet for node {words[3] >> 16}"
        )
        self.lab.check(
            "order of packets", number >= self.next[source], f"{here}: {number} arrived, expected {self.next[source]}"
        )
        self.next[source] = number + 1
        if size:
            nic.write(SpReg.COMMAND_HIGH, store_command(size, packet=True))
            nic.write(SpReg.COMMAND_LOW, memory.address)
        nic.write(SpReg.RECV_NEXT, 0)
        await self._until(SpStatus.LEFT_IDLE)
        await self.lab.kernel.sleep(DRAIN_PS, "what is posted in the bridge")
        data = bytes(self.host.memory[memory.address : memory.address + size])
        self.lab.check(
            "received bytes",
            data == self.data(source, self.vnn, number),
            f"{here}: packet {number} of {size} bytes arrived corrupted",
        )
        self.arrived += 1
        self.lab.findings.messages += 1
