"""Banks of the FPGA card in block RAM, against a byte image per bank.

Strategy: the bus side and the FPGA access the banks at random, each in its own clock. A bank changes hands between two
phases, so that the sides never use one bank at a time. Read data come one clock after the access.
"""

from __future__ import annotations

import random
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge

WORDS = 64
"""Words of a bank that are used."""


class Banks:
    """Memory of the card and the words that it must hold."""

    def __init__(self, dut: Any) -> None:
        self.dut, self.rng = dut, random.Random(cocotb.RANDOM_SEED)
        self.words = [[0] * WORDS for _ in range(4)]
        for name in ("mem", "head", "result", "bank"):
            dut[f"{name}_valid"].value = 0
        Clock(dut.clk, 10, unit="ns", impl="gpi").start(start_high=False)
        Clock(dut.f_clk, 14, unit="ns", impl="gpi").start(start_high=False)

    async def bus(self, bank: int, write: bool) -> None:
        """Access a word of a bank from the bus side, and check what a read returns."""
        dut, word = self.dut, self.rng.randrange(WORDS)
        await FallingEdge(dut.clk)
        dut.mem_valid.value, dut.mem_write.value, dut.mem_addr.value = 1, int(write), bank << 21 | word << 2
        lanes, data = self.rng.randrange(16) if write else 0, self.rng.getrandbits(32)
        dut.mem_be.value, dut.mem_wdata.value = lanes, data
        await RisingEdge(dut.clk)
        await FallingEdge(dut.clk)
        dut.mem_valid.value = 0
        if write:
            mask = sum(0xFF << 8 * lane for lane in range(4) if lanes >> lane & 1)
            self.words[bank][word] = self.words[bank][word] & ~mask | data & mask
        else:
            assert int(dut.mem_rdata.value) == self.words[bank][word]

    async def fpga(self, bank: int) -> None:
        """Access a word of a bank from the FPGA: banks 0 and 1 are read, bank 2 is written, bank 3 both."""
        dut, word, data = self.dut, self.rng.randrange(WORDS), self.rng.getrandbits(32)
        write = bank == 2 or (bank == 3 and self.rng.random() < 0.5)
        await FallingEdge(dut.f_clk)
        name = ("head", "head", "result", "bank")[bank]
        dut[f"{name}_valid"].value, dut[f"{name}_addr"].value = 1, word
        dut.head_bank.value, dut.bank_write.value = int(bank == 1), int(write)
        dut.result_wdata.value, dut.bank_wdata.value = data, data
        await RisingEdge(dut.f_clk)
        await FallingEdge(dut.f_clk)
        dut[f"{name}_valid"].value = 0
        if write:
            self.words[bank][word] = data
        else:
            assert int(dut[f"{name}_rdata"].value) == self.words[bank][word]

    async def clear(self) -> None:
        """Write 0 to each used word."""
        self.dut.mem_write.value, self.dut.mem_be.value, self.dut.mem_wdata.value = 1, 15, 0
        for bank in range(4):
            for word in range(WORDS):
                await FallingEdge(self.dut.clk)
                self.dut.mem_valid.value, self.dut.mem_addr.value = 1, bank << 21 | word << 2
        await FallingEdge(self.dut.clk)
        self.dut.mem_valid.value = 0


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def each_side_reads_what_either_side_wrote(dut: Any) -> None:
    banks = Banks(dut)
    await banks.clear()

    async def accesses(owned: list[int], bus: bool) -> None:
        for _ in range(40):
            bank = banks.rng.choice(owned)
            await (banks.bus(bank, banks.rng.random() < 0.5) if bus else banks.fpga(bank))

    for _ in range(20):
        numbers = [0, 1, 2, 3]
        banks.rng.shuffle(numbers)
        there = cocotb.start_soon(accesses(numbers[:2], False))
        await accesses(numbers[2:], True)
        await there
