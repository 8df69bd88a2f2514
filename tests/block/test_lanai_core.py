"""LANai processor against the reference model, instruction by instruction.

Strategy: random programs of all formats, with all kinds of jumps, run on the core and on `pymodels.lanai.simulator`.
Compared are the address of every instruction, and the direction, offset and value of every access to a special
register. At the end the whole SRAM is compared, where a program has stored its registers and flags. Load delays, the
time of special registers and contention for the SRAM are varied in all combinations. Every instruction must take the
clocks of `pymodels.lanai.clocks`. Undefined instructions stop both at the same address, for the same reason. The clocks
of short sequences are counted by hand.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge

from pymodels.lanai.chips import V11
from pymodels.lanai.clocks import Clocks, Pace
from pymodels.lanai.faults import Fault, Stall
from pymodels.lanai.isa import BY_NAME, NOP, PC, Op, Special
from pymodels.lanai.ports import CoreError, Sram
from pymodels.lanai.simulator import Core
from tb.agents.sram import SramImage
from tests.block.cases import cases, some
from tests.block.lanai_programs import DATA, SIZE, Writer
from tests.unit.lanai.lanai_words import branch, constant, load, part, ri, rr, store

PROGRAMS = 4
LENGTH = 150


class Words:
    """Special registers that keep their written values, and a log of accesses: (stores, offset, value)."""

    def __init__(self) -> None:
        self.held: dict[int, int] = {}
        self.log: list[tuple[int, int, int]] = []

    def read(self, register: int) -> int:
        value = self.held.get(register, 0)
        self.log.append((0, register, value))
        return value

    def write(self, register: int, value: int) -> None:
        self.held[register] = value
        self.log.append((1, register, value))


class Bench:
    """Core with its memory, and the reference model."""

    def __init__(self, dut: Any, delay: int = 1, register_clocks: int = 0, load: float = 1.0) -> None:
        self.dut, self.share = dut, load
        self.rng = random.Random(cocotb.RANDOM_SEED)
        self.bits = int(dut.REGISTER_BITS.value)
        self.image = SramImage(dut.u_memory, SIZE)
        self.chip = replace(V11, load_delay=delay, register_bits=self.bits)
        fetch_log2 = self.rng.randint(1, 3)
        self.pace = Pace(delay, int(dut.WIDTH.value) // 8, 1 << fetch_log2, register_clocks)
        Clock(dut.clk, 10, unit="ns", impl="gpi").start(start_high=False)
        dut.cfg_load_delay.value, dut.cfg_register_clocks.value = delay, register_clocks
        dut.cfg_fetch_log2.value = fetch_log2
        dut.allow.value = 1
        dut.rst.value = 1

    async def begin(self, words: Sequence[int], data: bytes = b"") -> None:
        """Reset, with a program at 0 and data after it."""
        code = b"".join(word.to_bytes(4, "big") for word in words)
        content = code.ljust(DATA, b"\0") + data.ljust(SIZE - DATA, b"\0")
        self.dut.rst.value = 1
        await ClockCycles(self.dut.clk, 2)
        self.image.fill(content)
        self.special = Words()
        memory = Sram(SIZE)
        memory.data[:] = content
        self.model = Core(memory, self.special, self.chip)
        self.allowed: deque[bool] = deque()
        self.clocks = Clocks(self.pace, granted=self.allowed.popleft)
        await RisingEdge(self.dut.clk)
        self.dut.rst.value = 0

    async def until(self, stop: int, limit: int = 20000) -> int:
        """Run to the instruction at `stop` or to a fault, comparing each instruction; return the clocks since reset."""
        dut, edge = self.dut, RisingEdge(self.dut.clk)
        for clocks in range(limit):
            await edge
            self.allowed.append(bool(dut.allow.value))
            if int(dut.fault.value):
                return clocks
            if int(dut.retired.value):
                self._compare()
                if int(dut.pc.value) == stop:
                    return clocks
            if self.share < 1:
                dut.allow.value = int(self.rng.random() < self.share)
        raise AssertionError(f"after {limit} clocks at {int(dut.pc.value):#x}")

    def _compare(self) -> None:
        dut, before = self.dut, len(self.special.log)
        step = self.model.step()
        assert step.pc == int(dut.pc.value), f"the core is at {int(dut.pc.value):#x}, the model at {step.pc:#x}"
        self.clocks.step(step)
        assert not self.allowed, f"{step.pc:#x} comes {len(self.allowed)} clocks later than it should"
        assert len(self.special.log) - before == int(dut.reg_valid.value)
        if int(dut.reg_valid.value):
            stores, offset, value = self.special.log[-1]
            assert (int(dut.reg_write.value), int(dut.reg_addr.value)) == (stores, offset)
            assert not stores or int(dut.reg_wdata.value) == value

    def compare_memory(self) -> None:
        memory = self.model.memory
        assert isinstance(memory, Sram)
        assert self.image.load(0, SIZE) == bytes(memory.data)


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cases(delay=[1, 2, 7], register_clocks=[0, 2], load=[1.0, 0.6])
async def random_programs_do_what_the_model_does(dut: Any, delay: int, register_clocks: int, load: float) -> None:
    bench = Bench(dut, delay, register_clocks, load)
    for _ in some(range(PROGRAMS)):
        words = Writer(bench.rng, bench.bits).program(LENGTH)
        await bench.begin(words, bench.rng.randbytes(SIZE - DATA))
        await bench.until(4 * (len(words) - 2))
        assert Fault(int(dut.fault.value)) is Fault.NONE
        await ClockCycles(dut.clk, 2)
        bench.compare_memory()


WRONG = {
    "beyond the code": [branch(SIZE), NOP],
    "far beyond": [ri(Op.ADD, PC, 1, 0xFFFF - 7), NOP],
    "reserved format": [NOP, 0xFFFF8000],
    "no shift and no select": [rr(Op.SHIFT, 8, 6, 7, j=Special(0)) | 1 << 3],
    "a byte and a word": [BY_NAME["RRM"].encode(rd=8, y=1, l=1)],
    "an unaligned word": [load(8, 0, 0x102)],
    "an unaligned half": [part(8, 0, 0x103, byte=False)],
    "part of a register": [part(8, 1, -3, byte=True)],
    "beyond SRAM": [constant(6, SIZE), store(7, 6, 0)],
    "a jump in a shadow": [branch(0x40), branch(0x80)],
    "a jump in the second shadow": [load(PC, 0, 0x100), NOP, ri(Op.ADD, PC, PC, 8)],
    "an unaligned jump": [ri(Op.ADD, PC, PC, 6), NOP],
}


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(case=list(WRONG))
async def undefined_instructions_halt_the_core(dut: Any, case: str) -> None:
    bench = Bench(dut)
    await bench.begin(WRONG[case])
    await bench.until(-1)
    expected = None
    try:
        bench.model.step()
    except CoreError as error:
        expected = error
    assert expected is not None
    assert (int(dut.fault.value), int(dut.pc.value)) == (expected.fault, expected.address)
    for _ in range(8):
        await RisingEdge(dut.clk)
        assert not int(dut.retired.value) and not int(dut.reg_valid.value)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def a_misaligned_target_loaded_from_memory_halts_the_core(dut: Any) -> None:
    bench = Bench(dut)
    await bench.begin([constant(6, 0x41), store(6, 0, 0x2000), load(PC, 0, 0x2000), NOP, NOP, NOP])
    for _ in range(20):
        await RisingEdge(dut.clk)
    assert Fault(int(dut.fault.value)) is Fault.JUMP
    assert int(dut.pc.value) in (0xC, 0x10), "the model faults at the load; the core, in a delay slot"


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(delay=[1, 2, 5])
async def a_user_of_a_load_waits_for_the_load_delay(dut: Any, delay: int) -> None:
    bench = Bench(dut, delay)
    await bench.begin([NOP, NOP, load(8, 0, 0x2000), ri(Op.ADD, 9, 8, 0), *[NOP] * 8])
    await bench.until(0x8)
    assert await bench.until(0xC) == delay


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def a_special_register_takes_its_further_clocks(dut: Any) -> None:
    bench = Bench(dut, register_clocks=3)
    await bench.begin([NOP, load(8, 1, -0x4F), *[NOP] * 8])
    stalls = []
    while not (int(dut.retired.value) and int(dut.pc.value) == 4):
        await RisingEdge(dut.clk)
        stalls.append(int(dut.stall.value))
    assert stalls.count(Stall.REGISTER) == 3


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def code_without_accesses_runs_an_instruction_a_clock(dut: Any) -> None:
    bench = Bench(dut)
    await bench.begin([NOP] * 200)
    await bench.until(0x20)
    assert await bench.until(4 * 120) == 120 - 8 - 1
