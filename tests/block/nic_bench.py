"""Shared parts of the NIC block benches: two unrelated clocks, strobes, a memory with random grants."""

from __future__ import annotations

import random
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge, Timer
from cocotb.utils import get_sim_time

from tb.agents.sram import SramImage
from tb.agents.streams import Pauses, never

NIC_PS, LINK_PS = 7500, 6250
COMMON_PS = 37500
"""Period after which both clocks have the same phases again, ps."""
OFFSET_PS = 500
"""Phase of the link clock, so that edges of both clocks never coincide: their order in a bench would be undefined."""
SRAM_BYTES = 8192


class NicBench:
    """Base of a block bench: clocks, reset, SRAM image and its random grants, strobe writes.

    Args:
        dut: `sim_*_bench` top level: clk, rst, sleep; allow if its memory can stall; link_clk if it has a link.
        sleep: True to skip unneeded edges.
        inputs: initial values of inputs.
    """

    nic_ps, common_ps = NIC_PS, COMMON_PS

    def __init__(self, dut: Any, sleep: bool, **inputs: int) -> None:
        self.dut = dut
        self.rng = random.Random(cocotb.RANDOM_SEED)
        self.image = bytearray(self.rng.randbytes(SRAM_BYTES))
        self.allow: Pauses = never()
        """Stalls of the memory: clocks without a grant."""
        self.edge = RisingEdge(dut.clk)
        self._gated = hasattr(dut, "allow")
        self.sram = SramImage(dut.u_memory if self._gated else dut, SRAM_BYTES)
        if self._gated:
            dut.allow.value = 1
        for name, value in {"sleep": int(sleep), "rst": 1, **inputs}.items():
            dut[name].value = value
        Clock(dut.clk, self.nic_ps, unit="ps", impl="gpi").start(start_high=False)
        self._link_clock: Clock | None = None
        self.origin = int(get_sim_time("ps"))

    async def start(self) -> None:
        """Fill the memory and release reset at a fixed phase of the clocks."""
        self.sram.fill(bytes(self.image))
        if self._link_clock is None and hasattr(self.dut, "link_clk"):
            await Timer(OFFSET_PS, "ps")
            self._link_clock = Clock(self.dut.link_clk, LINK_PS, unit="ps", impl="gpi")
            self._link_clock.start(start_high=False)
        await ClockCycles(self.dut.clk, 8)
        await Timer(self.common_ps - (int(get_sim_time("ps")) - self.origin) % self.common_ps + 1, "ps")
        self.dut.rst.value = 0
        await self.edge
        if self._gated:
            cocotb.start_soon(self._grant())

    async def _grant(self) -> None:
        shown = 1
        while True:
            now = int(not next(self.allow))
            if now != shown:
                self.dut.allow.value = shown = now
            await self.edge

    async def strobe(self, name: str, value: int | None = None, bit: int = 0) -> None:
        """Hold a strobe (bit of a vector) for one clock, with w_data if given."""
        if value is not None:
            self.dut.w_data.value = value
        self.dut[name].value = 1 << bit
        await self.edge
        self.dut[name].value = 0

    async def pause(self, most: int) -> None:
        """Wait for up to `most` clocks."""
        for _ in range(self.rng.randrange(most + 1)):
            await self.edge

    def check_sram(self) -> None:
        """Compare the memory with the model."""
        found = self.sram.load(0, SRAM_BYTES)
        if found != bytes(self.image):
            at = next(i for i in range(SRAM_BYTES) if found[i] != self.image[i])
            raise AssertionError(
                f"SRAM at {at:#x}: {found[at : at + 16].hex()}, expected {self.image[at : at + 16].hex()}"
            )
