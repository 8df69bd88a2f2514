"""The engines of a NIC as `basic_costs` drives them, without firmware: host DMA, interrupt, one packet."""

from __future__ import annotations

import itertools
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from firmware.verbs import Nic
from pymodels.formats.sp import VIA_BYTES, SpPacket
from pymodels.nics.lanai4.registers import Ebus
from pymodels.nics.sp.registers import SpReg, fetch_command, store_command
from pymodels.registers import Block, Flag, Isr, Reg
from pymodels.trace import Part, TraceEvent, unit
from tb.lab.lab import Lab

SCRATCH = 0x10000
"""SRAM used for the measurements."""
BLOCKS, ROUTED, ARRIVED = 0x1000, 0x2000, 0x4000
CHAIN = 0
PACKET = bytes.fromhex("06360000") + bytes(range(28))
SETTLE_PS, LONG_PS = 1_000_000, 200_000_000


class Engines(Protocol):
    """What the study asks of the NIC of node 0."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """Bytes of the transfers that are measured: a word first, the most that one transfer takes last."""

    @property
    def bulk(self) -> tuple[int, ...]:
        """Bytes of longer transfers whose bandwidth is measured as a whole, start-up included."""

    async def transfer(self, size: int, address: int, to_nic: bool) -> int:
        """One DMA transfer: picoseconds from the write that starts it to its end."""

    def interrupt(self) -> None:
        """Interrupt the host."""

    async def send(self, last: int, route: bytes) -> bool:
        """One short packet to the last node; whether it arrived as it was sent."""


def engines(lab: Lab) -> Engines:
    """The engines of node 0, whichever NIC it is."""
    return SpEngines(lab) if lab.plan.profile.kind == "sp" else LanaiEngines(lab)


def _ended(trace: NDArray[np.void]) -> int:
    """When the last transfer of node 0 ended; picoseconds."""
    mine = trace[(trace["unit"] == unit(0, Part.HOST_DMA)) & (trace["event"] == TraceEvent.DMA_DONE)]
    return int(mine["time"][-1])


class LanaiEngines:
    """LANai 9: a chain of control blocks; LANai 4: its registers."""

    sizes = (4, 64, 256, 512, 1024, 2048, 4096)
    bulk = (8192,)

    def __init__(self, lab: Lab) -> None:
        self._lab, self._nic = lab, lab.running.nics[0]
        self._position = 0
        if self._nic.kind == "lanai9":
            self._nic.write(Reg.DMA_LIST0 + 8 * CHAIN, BLOCKS)
        self._nic.write(Reg.EIMR, 1 << Isr.HOST_SIG)

    async def transfer(self, size: int, address: int, to_nic: bool) -> int:
        """The write to DMA_CTR, or the pulse of the chain, to the end of the block."""
        lab = self._lab
        register, value = self._prepare(size, address, to_nic)
        self._position ^= 1
        await lab.kernel.sleep(SETTLE_PS)
        begun = lab.kernel.now
        self._nic.write(register, value)
        await lab.kernel.sleep(LONG_PS)
        return _ended(lab.trace()) - begun

    def _prepare(self, size: int, address: int, to_nic: bool) -> tuple[int, int]:
        """Everything but the write that starts a transfer: register and value of that one.

        LANai 9: the control block the chain stands at; the next one is TERMINAL, so that it stops.
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
        """Set HOST_SIG."""
        self._nic.write(Reg.ISR, 1 << Isr.HOST_SIG)

    async def send(self, last: int, route: bytes) -> bool:
        """From SRAM to SRAM."""
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
    """SP adapter: FETCH into the Send FIFO, which a packet then empties; STORE of a word, or of a packet's data."""

    sizes = (4, 64, 256, 512, 768, 1024, 1280, 1536, 2032)
    bulk = ()

    def __init__(self, lab: Lab) -> None:
        self._lab, self._nic = lab, lab.running.nics[0]
        self._last = len(lab.running.hosts) - 1
        self._numbers = itertools.count(1)
        routes = (lab.plan.cluster.routes_from(a)[b] for a, b in ((0, self._last), (self._last, 0)))
        self._route, self._back = routes

    async def transfer(self, size: int, address: int, to_nic: bool) -> int:
        """From the write of COMMAND_LOW, or of the word behind it, to the end of the command."""
        lab, nic = self._lab, self._nic
        if not to_nic and size > 4:
            await self._bring(size)
        nic.write(SpReg.COMMAND_HIGH, fetch_command(size) if to_nic else store_command(size, packet=size > 4))
        await lab.kernel.sleep(SETTLE_PS)
        begun = lab.kernel.now
        nic.write(SpReg.COMMAND_LOW, address)
        if not to_nic and size == 4:
            nic.write(SpReg.DATA_ONE, 0)
        await lab.kernel.sleep(LONG_PS)
        took = _ended(lab.trace()) - begun
        if to_nic:
            await self._launch(nic, self._route, self._last, size)
            self._next(lab.running.nics[self._last])
        elif size > 4:
            self._next(nic)
        await lab.kernel.sleep(LONG_PS)
        return took

    async def _bring(self, size: int) -> None:
        """A packet with so many bytes of user data stands at the head of node 0's receive side."""
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
        """INTERRUPT."""
        self._nic.write(SpReg.INTERRUPT, 1)

    async def send(self, last: int, route: bytes) -> bool:
        """With user data that the processor writes."""
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
