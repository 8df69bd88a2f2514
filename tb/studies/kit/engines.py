"""NIC engines as `basic_costs` drives them, without firmware: host DMA, interrupt, and one packet."""

from __future__ import annotations

import itertools
from typing import Any, Protocol

from firmware.verbs import Nic
from pymodels.formats.sp import VIA_BYTES, SpPacket
from pymodels.nics.lanai4.registers import Ebus
from pymodels.nics.sp.registers import SpReg, fetch_command, store_command
from pymodels.registers import Block, Flag, Isr, Reg
from pymodels.trace import Part, TraceEvent, unit
from tb.lab.lab import Lab

SCRATCH = 0x10000
"""SRAM address of the data of the measured DMA transfers."""
BLOCKS, ROUTED, ARRIVED = 0x1000, 0x2000, 0x4000
CHAIN = 0
PACKET = bytes.fromhex("06360000") + bytes(range(28))
SETTLE_PS, LONG_PS = 1_000_000, 200_000_000
PATIENCE = 100
"""Number of waits of LONG_PS for the end of one transfer."""


class Engines(Protocol):
    """Operations on the NIC of node 0 that `basic_costs` measures."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """Sizes of the measured transfers in bytes: from one word to the largest single transfer."""

    @property
    def bulk(self) -> tuple[int, ...]:
        """Sizes in bytes of longer transfers, whose bandwidth includes their start-up."""

    async def transfer(self, size: int, address: int, to_nic: bool) -> int:
        """Do one DMA transfer and return its duration in ps, from the write that starts it to its end."""

    def interrupt(self) -> None:
        """Interrupt the host."""

    async def send(self, last: int, route: bytes) -> bool:
        """Send one short packet to node `last` and return True if it arrived unchanged."""


def engines(lab: Lab) -> Engines:
    """Return the engines of node 0 for its kind of NIC."""
    return SpEngines(lab) if lab.plan.profile.kind == "sp" else LanaiEngines(lab)


async def _end(lab: Lab, begun: int) -> int:
    """Wait for the end of the DMA transfer of node 0 that began at a time, and return its time; both in ps."""
    for _ in range(PATIENCE):
        await lab.kernel.sleep(LONG_PS)
        trace = lab.trace()
        mine = (trace["unit"] == unit(0, Part.HOST_DMA)) & (trace["event"] == TraceEvent.DMA_DONE)
        ended = trace["time"][mine & (trace["time"] > begun)]
        if len(ended):
            return int(ended[-1])
    lab.check("DMA transfer", False, f"no end after {PATIENCE * LONG_PS / 1e9:g} ms")
    return lab.kernel.now


class LanaiEngines:
    """Engines of a LANai NIC: a chain of control blocks on the LANai 9, registers on the LANai 4."""

    sizes = (4, 64, 256, 512, 1024, 2048, 4096)
    bulk = (8192,)

    def __init__(self, lab: Lab) -> None:
        self._lab, self._nic = lab, lab.running.nics[0]
        self._position = 0
        if self._nic.kind == "lanai9":
            self._nic.write(Reg.DMA_LIST0 + 8 * CHAIN, BLOCKS)
        self._nic.write(Reg.EIMR, 1 << Isr.HOST_SIG)

    async def transfer(self, size: int, address: int, to_nic: bool) -> int:
        """Do one DMA transfer and return its duration in ps, from the write of DMA_CTR or the chain's pulse."""
        lab = self._lab
        register, value = self._prepare(size, address, to_nic)
        self._position ^= 1
        await lab.kernel.sleep(SETTLE_PS)
        begun = lab.kernel.now
        self._nic.write(register, value)
        return await _end(lab, begun) - begun

    def _prepare(self, size: int, address: int, to_nic: bool) -> tuple[int, int]:
        """Set up a transfer and return the register and value of the write that starts it.

        LANai 9: the chain waits at this transfer's control block. The next block is TERMINAL, so that the chain stops
        there.
        """
        nic = self._nic
        if nic.kind == "lanai4":
            nic.write(Ebus.EAR, address)
            nic.write(Ebus.LAR, SCRATCH)
            nic.write(Ebus.DMA_DIR, int(to_nic))
            return Ebus.DMA_CTR, size
        here, there = (BLOCKS + Block.SIZE * (self._position ^ i) for i in (0, 1))
        nic.store(there + Block.NEXT, here | Flag.TERMINAL)
        nic.store_words(here + Block.CSUM, (0, size, SCRATCH, 0, address))
        nic.store(here + Block.NEXT, there | Flag.WAKE | (Flag.E2L if to_nic else 0))
        return Reg.PULSE, 1 << CHAIN

    def interrupt(self) -> None:
        """Interrupt the host by setting HOST_SIG."""
        self._nic.write(Reg.ISR, 1 << Isr.HOST_SIG)

    async def send(self, last: int, route: bytes) -> bool:
        """Send one short packet from SRAM to the SRAM of node `last` and return True if it arrived unchanged."""
        sender, receiver = self._nic, self._lab.running.nics[last]
        receiver.write(Reg.RMP, ARRIVED)
        receiver.write(Reg.RML, ARRIVED + 1024)
        end, skip = ROUTED + len(route) + len(PACKET), -len(route) % sender.word_bytes
        sender.sram[ROUTED + skip : end + skip] = route + PACKET
        sender.write(Reg.SA, skip)
        sender.write(Reg.SMP, ROUTED)
        sender.write(Reg.SMLT, end + skip)
        await self._lab.kernel.sleep(20 * SETTLE_PS)
        return bool(receiver.load_bytes(ARRIVED, len(PACKET)) == PACKET)


class SpEngines:
    """Engines of the SP adapter: FETCH into the Send FIFO, and STORE of a word or of a packet's data.

    A packet sent after each FETCH empties the Send FIFO again.
    """

    sizes = (4, 64, 256, 512, 768, 1024, 1280, 1536, 2032)
    bulk = ()

    def __init__(self, lab: Lab) -> None:
        self._lab, self._nic = lab, lab.running.nics[0]
        self._last = len(lab.running.hosts) - 1
        self._numbers = itertools.count(1)
        routes = (lab.plan.cluster.routes_from(a)[b] for a, b in ((0, self._last), (self._last, 0)))
        self._route, self._back = routes

    async def transfer(self, size: int, address: int, to_nic: bool) -> int:
        """Do one DMA transfer and return its duration in ps, from the write of COMMAND_LOW or of the data word after
        it.
        """
        lab, nic = self._lab, self._nic
        if not to_nic and size > 4:
            await self._bring(size)
        nic.write(SpReg.COMMAND_HIGH, fetch_command(size) if to_nic else store_command(size, packet=size > 4))
        await lab.kernel.sleep(SETTLE_PS)
        begun = lab.kernel.now
        nic.write(SpReg.COMMAND_LOW, address)
        if not to_nic and size == 4:
            nic.write(SpReg.DATA_ONE, 0)
        took = await _end(lab, begun) - begun
        if to_nic:
            await self._launch(nic, self._route, self._last, size)
            self._next(lab.running.nics[self._last])
        elif size > 4:
            self._next(nic)
        await lab.kernel.sleep(LONG_PS)
        return took

    async def _bring(self, size: int) -> None:
        """Put a packet with `size` bytes of user data at the head of node 0's receive queue."""
        lab = self._lab
        far = lab.running.nics[self._last]
        far.write(SpReg.COMMAND_HIGH, fetch_command(size))
        far.write(SpReg.COMMAND_LOW, lab.running.hosts[self._last].allocate(4096).address)
        await lab.kernel.sleep(LONG_PS)
        await self._launch(far, self._back, 0, size)

    async def _launch(self, nic: Nic, route: bytes, to: int, size: int) -> None:
        packet = SpPacket(route, nic.node, to, (next(self._numbers), 0), bytes(size))
        for index, word in enumerate((*packet.header.words(), *packet.via)):
            nic.write(SpReg.SEND0 + 4 * index, word)
        nic.write(SpReg.SEND_START, size)
        await self._lab.kernel.sleep(LONG_PS)

    def _next(self, nic: Any) -> None:
        nic.write(SpReg.RECV_NEXT, 0)

    def interrupt(self) -> None:
        """Interrupt the host by writing INTERRUPT."""
        self._nic.write(SpReg.INTERRUPT, 1)

    async def send(self, last: int, route: bytes) -> bool:
        """Send one short packet, with user data written by the processor, and return True if it arrived unchanged."""
        far = self._lab.running.nics[last]
        packet = SpPacket(route, 0, last, (next(self._numbers), 1), PACKET[:8])
        for index, word in enumerate((*packet.header.words(), *packet.via)):
            self._nic.write(SpReg.SEND0 + 4 * index, word)
        data = [int.from_bytes(PACKET[at : at + 4], "big") for at in (0, 4)]
        for index, word in enumerate(data):
            self._nic.write(SpReg.OWN0 + 4 * index, word)
        self._nic.write(SpReg.SEND_START, len(packet.data) << 16)
        await self._lab.kernel.sleep(20 * SETTLE_PS)
        came = [await far.read(SpReg.RECV4 + 4 * index) for index in range(VIA_BYTES // 4 + 2)]
        self._next(far)
        return came == [*packet.via, *data]
