"""Shared parts of the special register tests: a model of the register map, and the bench on `myri_lanai_regs`."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge

from pymodels.registers import MYRINET_AFTER_RESET, Isr, Reg, isr_mask

MASK = 0xFFFFFFFF
PLAIN = (Reg.LAR, Reg.RMW, Reg.RMC, Reg.SMH, Reg.SMC, Reg.DEBUG, Reg.LED, Reg.WRITE_ENABLE, Reg.CLOCK)
STROBES = {
    register: f"w_{register.name.lower()}" for register in (Reg.RMP, Reg.RML, Reg.SMP, Reg.SML, Reg.SMLT, Reg.SA)
}
ORUN = isr_mask(Isr.ORUN1, Isr.ORUN2, Isr.ORUN4)
SETTABLE = tuple(bit for bit in Isr if not 1 << bit & ORUN and bit not in (Isr.TIME0, Isr.TIME1, Isr.TIME2))
INPUTS = (
    "hold_reset", "cpu_reg", "host_reg", "rmp", "rml", "smp", "send_limit", "sa", "recv_length",
    "recv_orun", "recv_lost", "dma_list", "dma_progress", "dma_status", "producer", "consumer", "overflows",
    "set_isr", "set_errors", "send_started",
)  # fmt: skip


class Model:
    """Model of ISR and the related registers."""

    def __init__(self) -> None:
        self.values: dict[int, int] = dict.fromkeys((Reg.ISR, Reg.EIMR, Reg.ERRORS, Reg.RECV_LOST, *PLAIN), 0)
        self.values[Reg.MYRINET] = MYRINET_AFTER_RESET

    def clock(self, write: tuple[int, int, bool] | None, events: dict[str, int]) -> None:
        """Apply one edge: a write (register, value, True if by the processor) and the event inputs."""
        isr, clear, signal = self.values[Reg.ISR], 0, 0
        if write is not None:
            register, value, by_cpu = write
            if register == Reg.ISR:
                own = 1 << (Isr.HOST_SIG if by_cpu else Isr.LANAI_SIG)
                clear, signal = value & ~own, value & own
            elif register == Reg.ERRORS:
                self.values[Reg.ERRORS] &= ~value
            elif register == Reg.RML:
                clear = isr_mask(Isr.HEAD, Isr.RECV, Isr.BUFF)
            elif register in self.values and register != Reg.RECV_LOST:
                self.values[register] = value
        if events["send_started"]:
            clear |= isr_mask(Isr.SEND)
        raised = events["set_isr"]
        if raised >> Isr.RECV & 1:
            clear |= ORUN
            raised |= events["recv_orun"] << Isr.ORUN1
        self.values[Reg.ISR] = (isr & ~clear | signal | raised) & MASK
        self.values[Reg.ERRORS] |= events["set_errors"]
        self.values[Reg.RECV_LOST] += events["recv_lost"]


class Ports:
    """Both ports, the event inputs, and the edge index."""

    def __init__(self, dut: Any, inputs: Sequence[str]) -> None:
        """Set up the ports; `inputs` are initially 0."""
        self.dut = dut
        self.rng = random.Random(cocotb.RANDOM_SEED)
        self.cycle = 0
        for name in inputs:
            dut[name].value = 0
        dut.cfg_rtc_num.value, dut.cfg_rtc_den.value = 3, 200
        dut.cycle.value = 0
        dut.rst.value = 1
        self.edge, self.middle = RisingEdge(dut.clk), FallingEdge(dut.clk)
        Clock(dut.clk, 10, unit="ns", impl="gpi").start(start_high=False)

    async def start(self) -> None:
        await ClockCycles(self.dut.clk, 3)
        self.dut.rst.value = 0
        await self.edge

    async def tick(self, jump: int = 1) -> None:
        """Clock one edge; `cycle` then advances by `jump`."""
        await self.edge
        self.cycle += jump
        self.dut.cycle.value = self.cycle

    def access(self, port: str, register: int, value: int | None = None) -> None:
        """Apply an access to a port for this clock: the bits of `reg_request_t`."""
        self.dut[f"{port}_reg"].value = 1 << 42 | int(value is not None) << 41 | register << 32 | (value or 0)

    def release(self, port: str) -> None:
        """Apply no access to a port from now on."""
        self.dut[f"{port}_reg"].value = 0

    async def write(self, register: int, value: int, port: str = "cpu") -> None:
        """Write a register in a clock of its own."""
        self.access(port, register, value)
        await self.tick()
        self.release(port)

    async def read(self, register: int, port: str = "cpu") -> int:
        """Read a register in a clock of its own, at the current edge index."""
        self.access(port, register)
        await self.middle
        value = int(self.dut[f"{port}_reg_rdata"].value)
        await self.tick()
        self.release(port)
        return value

    def ticks(self, cycle: int) -> int:
        """Return the half-microsecond ticks at an edge."""
        return cycle * 3 // 200


class Bench(Ports):
    """LANai 9 registers and their model."""

    def __init__(self, dut: Any) -> None:
        super().__init__(dut, INPUTS)
        self.model = Model()
