"""Bench around sim_nic_bench.sv: host CPU, host memory, the LANai's registers, the trace, a PCI monitor."""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge, Timer
from cocotb.utils import get_sim_time

from pymodels.nic.dma import write_block
from pymodels.registers import Block, Flag, Isr, Pci, Reg
from tb.agents.host import CpuPort, HostMemory
from tb.agents.pci import PciMonitor
from tb.agents.sram import SramImage
from tests.block.netlists import on_netlist
from tests.block.nic_bench import COMMON_PS, SRAM_BYTES, NicBench

BASE = 0xE0000000
PCI_PS, PCI_OFFSET_PS = 15000, 1000
HOST_BYTES = 1 << 16
MEMORY_BYTES = 1 << 16
QUIET_CLOCKS = 3000
BUSY = ("nic_busy", "nic_link_busy", "cable_busy", "nic_pci_busy", "segment_busy")
CLK_TRACE = {"tr_tx_start": "tr_tx_start_key", "tr_tx_read": "tr_tx_read_key", "tr_rx_first": "tr_rx_first_key",
             "tr_rx_done": "tr_rx_done_key"}  # fmt: skip
LINK_TRACE = {
    "tr_tx_head": "tr_tx_key",
    "tr_tx_tail": "tr_tx_key",
    "tr_rx_head": "tr_rx_key",
    "tr_rx_tail": "tr_rx_key",
}
SETTINGS = {"cfg_wide": 1, "cfg_cdc_latency": 1, "cfg_accesses": 2, "cfg_start_clocks": 0, "cfg_delay": 4,
            "cfg_nres_clocks": 100_000, "cfg_bus_beat": 3, "cfg_bus_access": 6, "cfg_doorbell": 0}  # fmt: skip
ZEROS = ("cpu_reg_valid", "cpu_reg_write", "cpu_reg_addr", "cpu_reg_wdata", "cpu_req")


class CardBench(NicBench):
    """Driver and firmware of one card."""

    common_ps = 2 * COMMON_PS
    """Period after which all clocks, including the PCI clock, have the same phases again, ps."""
    bus_clock = "pci_clk"
    """Name of the PCI segment's clock."""
    control_at: int = Pci.CONTROL
    word = 8
    """Bytes of an SRAM word."""

    def __init__(self, dut: Any, sleep: int = 1, **settings: int) -> None:
        super().__init__(dut, bool(sleep) and not on_netlist(), **dict.fromkeys(ZEROS, 0), **{**SETTINGS, **settings})
        self.sram = SramImage(dut, MEMORY_BYTES)
        self.image = bytearray(self.rng.randbytes(SRAM_BYTES))
        self.log: list[tuple[int, str, int]] = []
        """(time, strobe, key or number) of every trace strobe."""
        self.last: dict[str, int] = {}
        """Last key of each packet strobe."""
        self.bad: list[str] = []
        """Violated invariants: overrun, CRC, DMA error."""
        self.lost = 0
        self._pci_clock: Clock | None = None
        bus_clock = dut[self.bus_clock]
        self.cpu = CpuPort(dut, bus_clock)
        self.memory = HostMemory(dut, bus_clock, HOST_BYTES)
        self.monitor = PciMonitor(dut, "pci", bus_clock, dut.rst)
        self._middle = FallingEdge(dut.clk)
        cocotb.start_soon(self._watch(RisingEdge(dut.clk), CLK_TRACE))
        cocotb.start_soon(self._watch(RisingEdge(dut.link_clk), LINK_TRACE))
        cocotb.start_soon(self._watch_status())

    async def start(self) -> None:
        """Release reset at a fixed phase of the three clocks."""
        if self._pci_clock is None and self.bus_clock == "pci_clk":
            await Timer(PCI_OFFSET_PS, "ps")
            self._pci_clock = Clock(self.dut.pci_clk, PCI_PS, unit="ps", impl="gpi")
            self._pci_clock.start(start_high=False)
        await super().start()

    async def _watch(self, edge: Any, strobes: dict[str, str]) -> None:
        handles = [(name, self.dut[name], self.dut[key]) for name, key in strobes.items()]
        reset = self.dut.rst
        while True:
            await edge
            if int(reset.value):
                continue
            for name, handle, key in handles:
                if int(handle.value):
                    self.last[name] = int(key.value)
                    self.log.append((int(get_sim_time("ps")) - self.origin, name, self.last[name]))

    async def _watch_status(self) -> None:
        dut = self.dut
        names = ("st_dma_error", "st_doorbell_overflow", "st_rx_overrun", "st_crc_bad", "st_send_misuse")
        handles = [(name, dut[name]) for name in names]
        events = [(name, dut[name]) for name in ("tr_dma_start", "tr_dma_done", "tr_pio_write", "tr_doorbell")]
        while True:
            await self.edge
            if int(dut.rst.value):
                continue
            self.bad += [name for name, handle in handles if int(handle.value)]
            self.lost += int(dut.st_rx_lost.value)
            self.log += [
                (int(get_sim_time("ps")) - self.origin, name, 0) for name, handle in events if int(handle.value)
            ]

    # Host.
    async def host_write(self, offset: int, value: int) -> None:
        """Store a big-endian word to the card; returns when the bus has accepted it."""
        self.cpu.store(BASE + offset, value.to_bytes(4, "big"))
        await self.cpu.all_taken()

    async def host_read(self, offset: int) -> int:
        """Load a big-endian word from the card."""
        return int.from_bytes(await self.cpu.load(BASE + offset, 4), "big")

    async def control(self, value: int) -> None:
        """Write the control register."""
        await self.host_write(self.control_at, value)

    # Firmware.
    async def lanai_write(self, register: int, value: int) -> None:
        """Write a special register as the processor, in one clock."""
        dut = self.dut
        dut.cpu_reg_valid.value, dut.cpu_reg_write.value = 1, 1
        dut.cpu_reg_addr.value, dut.cpu_reg_wdata.value = register, value & 0xFFFFFFFF
        await self.edge
        dut.cpu_reg_valid.value = 0

    async def lanai_read(self, register: int) -> int:
        """Read a special register as the processor, in one clock."""
        dut = self.dut
        dut.cpu_reg_valid.value, dut.cpu_reg_write.value, dut.cpu_reg_addr.value = 1, 0, register
        await self._middle
        value = int(dut.cpu_reg_rdata.value)
        await self.edge
        dut.cpu_reg_valid.value = 0
        return value

    async def isr(self, bit: Isr) -> None:
        """Wait at least one clock, until a bit of ISR is set."""
        for _ in range(40000):
            await self.edge
            if self.flags >> bit & 1:
                return
        raise AssertionError(f"{bit.name} was not set within 40000 clocks; ISR is {int(self.dut.isr.value):#x}")

    @property
    def flags(self) -> int:
        """ISR, with the bits that firmware uses."""
        return int(self.dut.isr.value)

    async def arm(self, rmp: int, rml: int) -> None:
        """Give the receive engine a buffer."""
        await self.lanai_write(Reg.RMP, rmp)
        await self.lanai_write(Reg.RML, rml)

    async def send(self, start: int, length: int, wait: bool = True) -> None:
        """Send bytes of SRAM as one packet."""
        skip = start % self.word
        for register, value in ((Reg.SA, skip), (Reg.SMP, start - skip), (Reg.SMLT, start + length)):
            await self.lanai_write(register, value)
        if wait:
            await self.isr(Isr.SEND)

    async def send_behind_dma(self, start: int, length: int) -> None:
        """Send a packet while chain 2 still loads its bytes: SML follows DMA_PROGRESS."""
        await self.lanai_write(Reg.SA, start % 8)
        await self.lanai_write(Reg.SMP, start & ~7)
        limit = 0
        while limit < length:
            there = await self.lanai_read(Reg.DMA_PROGRESS2)
            if there > limit:
                limit = there
                await self.lanai_write(Reg.SMLT if limit == length else Reg.SML, start + limit)

    async def dma(self, chain: int, at: int, flags: Flag, lar: int, eal: int, length: int) -> None:
        """Put a block and a terminal one into SRAM at a chain's pointer and start it."""
        block = bytearray(2 * Block.SIZE)
        write_block(block, 0, at + Block.SIZE, flags | Flag.WAKE, length, lar, eal)
        write_block(block, Block.SIZE, at, Flag.TERMINAL, 0, 0, 0)
        self.sram.store(at, bytes(block))
        await self.lanai_write(Reg.DMA_LIST0 + 8 * chain, at)
        await self.lanai_write(Reg.PULSE, 1 << chain)

    def packet(self, length: int) -> bytes:
        """Return random bytes of a packet without a route; the first byte has its top bit clear."""
        body = bytearray(self.rng.randbytes(length))
        body[0] &= 0x7F
        return bytes(body)

    def latest(self, strobe: str, nth: int = 1) -> int:
        """Return the time of the `nth` last occurrence of a strobe in the trace."""
        return [time for time, name, _ in self.log if name == strobe][-nth]

    async def refusals(self, clocks: int) -> int:
        """Return the number of clocks in which the processor's SRAM request was not granted."""
        count = 0
        for _ in range(clocks):
            await self._middle
            count += int(not int(self.dut.cpu_gnt.value))
        await self.edge
        return count

    async def quiet(self) -> None:
        """Wait until no clock is needed."""
        self.cpu.fence()
        await self.cpu.all_taken()
        calm = 0
        for _ in range(QUIET_CLOCKS):
            await self.edge
            calm = calm + 1 if int(self.dut.asleep.value) and int(self.dut.idle_out.value) else 0
            if calm > 20:
                return
        awake = [name for name in BUSY if int(self.dut[name].value)]
        raise AssertionError(f"{', '.join(awake) or 'a posted store'} still busy after {QUIET_CLOCKS} clocks")
