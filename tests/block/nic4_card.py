"""Bench around sim_nic_bench.sv with the LANai 4, whose registers have the names that firmware uses."""

from __future__ import annotations

from typing import Any

from pymodels.nics.lanai4.registers import WORD, Ebus, Pci4, bits_there, place, shown, written
from pymodels.registers import Reg
from tests.block.nic_card import CardBench


class Card4Bench(CardBench):
    """Driver and firmware of one card. NIC and PCI bus have one clock."""

    nic_ps, common_ps = 30000, 150000
    bus_clock = "clk"
    control_at = Pci4.CONTROL
    word = WORD

    def __init__(self, dut: Any, sleep: int = 1, **settings: int) -> None:
        super().__init__(dut, sleep, **{"cfg_wide": 0, "pci_clk": 0, **settings})

    async def lanai_write(self, register: int, value: int) -> None:
        """Write a special register as the processor, in one clock."""
        here = place(register)
        await super().lanai_write(here, written(here, value))

    async def lanai_read(self, register: int) -> int:
        """Read a special register as the processor, in one clock."""
        here = place(register)
        return shown(here, await super().lanai_read(here))

    @property
    def flags(self) -> int:
        """ISR, with the bits that firmware uses."""
        return bits_there(int(self.dut.isr.value))

    async def transfer(self, to_nic: bool, sram: int, host: int, size: int) -> None:
        """Start the host DMA; addresses and size are multiples of a word."""
        for register, value in ((Ebus.EAR, host), (Ebus.LAR, sram), (Ebus.DMA_DIR, int(to_nic)), (Ebus.DMA_CTR, size)):
            await self.lanai_write(register, value)

    async def send_behind_transfer(self, start: int, length: int, size: int) -> None:
        """Send a packet while a transfer of `size` bytes still loads its bytes: SML follows DMA_CTR."""
        await self.lanai_write(Reg.SA, 0)
        await self.lanai_write(Reg.SMP, start)
        limit = 0
        while limit < length:
            there = min(size - await self.lanai_read(Ebus.DMA_CTR), length)
            if there > limit:
                limit = there
                await self.lanai_write(Reg.SMLT if limit == length else Reg.SML, start + limit)
