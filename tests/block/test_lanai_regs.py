"""Special registers of the LANai 9.

Strategy: random reads and writes of both ports, in the same clocks, and random event strobes are applied. A small model
keeps ISR, EIMR, the plain registers, errors and counters as the register map defines them, and every read must agree.
Time (RTC, IT0-2, CPUC) is compared with exact integer arithmetic on the edge index, also after jumps of `cycle` as with
a stopped clock.
"""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import cocotb

from pymodels.registers import MYRINET_AFTER_RESET, Isr, Reg, isr_mask
from tb.agents.grid import alarm
from tests.block.netlists import sleeping_clocks
from tests.block.regs_bench import MASK, ORUN, SETTABLE, STROBES, Bench


def random_events(rng: random.Random) -> dict[str, int]:
    """Return random event inputs of one clock."""
    return {
        "set_isr": sum(1 << bit for bit in SETTABLE if rng.random() < 0.05),
        "set_errors": 1 << rng.randrange(9) if rng.random() < 0.1 else 0,
        "recv_orun": rng.randrange(8),
        "recv_lost": int(rng.random() < 0.1),
        "send_started": int(rng.random() < 0.1),
    }


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def random_accesses_and_events_follow_the_map(dut: Any) -> None:
    """Access both ports at once, the processor first; events in any clock; set has priority over clear."""
    bench = Bench(dut)
    rng, model = bench.rng, bench.model
    await bench.start()
    registers = [*model.values, *STROBES]
    raised = 0
    for _ in range(1500):
        wanted: dict[str, tuple[int, int | None]] = {}
        for port in ("cpu", "host"):
            bench.release(port)
            if rng.random() < 0.5:
                value = rng.getrandbits(32) & rng.getrandbits(32) if rng.random() < 0.6 else None
                wanted[port] = (rng.choice(registers), value)
                bench.access(port, *wanted[port])
        events = random_events(rng)
        for name, value in events.items():
            dut[name].value = value
        await bench.middle
        served = "cpu" if "cpu" in wanted else "host" if "host" in wanted else None
        assert int(dut.host_reg_ready.value) == int(served == "host")
        write = None
        if served:
            register, value = wanted[served]
            if value is None:
                if register in model.values:
                    assert int(dut[f"{served}_reg_rdata"].value) == model.values[register], Reg(register).name
            else:
                write = (register, value, served == "cpu")
                assert int(dut.w_data.value) == value
        for register, wire in STROBES.items():
            assert int(dut[wire].value) == int(write is not None and write[0] == register)
        assert int(dut.isr.value) == model.values[Reg.ISR]
        assert int(dut.isr_set.value) & ~ORUN == raised
        assert int(dut.intr_line.value) == int(model.values[Reg.ISR] & model.values[Reg.EIMR] != 0)
        await bench.tick()
        model.clock(write, events)
        raised = events["set_isr"]


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def values_of_the_engines_read_back(dut: Any) -> None:
    """Check that pointers, progress, producers and the others are at the addresses of the map."""
    bench = Bench(dut)
    rng = bench.rng
    await bench.start()
    expected: dict[Reg, int] = {}

    def put(wire: str, bits: int, *registers: Reg) -> None:
        values = [rng.getrandbits(bits) for _ in registers]
        dut[wire].value = sum(value << bits * k for k, value in enumerate(values))
        expected.update(zip(registers, values, strict=True))

    put("rmp", 24, Reg.RMP)
    put("rml", 24, Reg.RML)
    put("smp", 24, Reg.SMP)
    put("send_limit", 24, Reg.SML)
    put("sa", 3, Reg.SA)
    put("recv_length", 32, Reg.RECV_LENGTH)
    put("dma_list", 24, Reg.DMA_LIST0, Reg.DMA_LIST1, Reg.DMA_LIST2, Reg.DMA_LIST3)
    put("dma_progress", 32, Reg.DMA_PROGRESS0, Reg.DMA_PROGRESS1, Reg.DMA_PROGRESS2, Reg.DMA_PROGRESS3)
    put("producer", 17, *(Reg[f"DOORBELL_PRODUCER{k}"] for k in range(4)))
    put("consumer", 17, *(Reg[f"DOORBELL_CONSUMER{k}"] for k in range(4)))
    put("dma_status", 32, Reg.DMA_STATUS)
    put("overflows", 32, Reg.DOORBELL_OVERFLOWS)
    for register, value in expected.items():
        assert await bench.read(register) == value, register.name
        assert await bench.read(register, "host") == value, register.name
    assert await bench.read(Reg.SMLT) == expected[Reg.SML]
    for offset in range(0, 0x200, 8):
        if offset not in list(Reg):
            assert await bench.read(offset) == 0


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def chain_and_doorbell_strobes_carry_their_number(dut: Any) -> None:
    """Check one-hot strobes of PULSE, DMA_LISTk, DOORBELL_CONSUMERk in the clock of the write only."""
    bench = Bench(dut)
    await bench.start()
    for k in range(4):
        for register, wire, value in (
            (Reg.DMA_LIST0 + 8 * k, "w_list", 0x1230),
            (Reg.DOORBELL_CONSUMER0 + 8 * k, "w_consumer", 77),
            (Reg.PULSE, "pulse", 1 << k),
        ):
            bench.access("cpu", register, value)
            await bench.middle
            assert int(dut[wire].value) == 1 << k and int(dut.w_data.value) == value
            await bench.tick()
            for other in ((register, None), (register + 4, value)):
                bench.access("cpu", *other)
                await bench.middle
                assert int(dut[wire].value) == 0
                await bench.tick()
            bench.release("cpu")
            await bench.middle
            assert int(dut[wire].value) == 0


@cocotb.test(timeout_time=4, timeout_unit="ms")
@cocotb.parametrize(rate=[(3, 200), (1, 50), (33, 1000), (2, 1)])
@sleeping_clocks()
async def rtc_is_exact_after_any_sleep(dut: Any, rate: tuple[int, int]) -> None:
    """Check floor(cycle * num / den) plus the written value, over jumps of years."""
    bench = Bench(dut)
    dut.cfg_rtc_num.value, dut.cfg_rtc_den.value = rate
    await bench.start()
    offset = 0
    for _ in range(200):
        if bench.rng.random() < 0.2:
            value = bench.rng.getrandbits(32)
            offset = value - int(Fraction(*rate) * bench.cycle)
            await bench.write(Reg.RTC, value)
        at = bench.cycle
        assert await bench.read(Reg.RTC) == int(Fraction(*rate) * at) + offset & MASK
        await bench.tick(bench.rng.choice([1, 3, 66, 67, 10_000, bench.rng.randrange(1 << 38)]))


@cocotb.test(timeout_time=4, timeout_unit="ms")
@sleeping_clocks()
async def timers_set_their_bit_at_the_wrap(dut: Any) -> None:
    """Check that ITk counts down in ticks, the alarm names the edge, and the bit is set there, once."""
    bench = Bench(dut)
    await bench.start()
    bits = (Isr.TIME0, Isr.TIME1, Isr.TIME2)
    for _ in range(60):
        due = {}
        for k, register in enumerate((Reg.IT0, Reg.IT1, Reg.IT2)):
            value = bench.rng.choice([0, 1, 2, bench.rng.randrange(200), bench.rng.randrange(1 << 20)])
            start = bench.cycle
            await bench.write(register, value)
            due[k] = -(-(bench.ticks(start) + value + 1) * 200 // 3)
            assert await bench.read(register) == value - (bench.ticks(bench.cycle - 1) - bench.ticks(start)) & MASK
        raised = int(dut.isr.value)
        while due:
            await bench.middle
            earliest = min(due.values())
            raised |= int(dut.isr.value)
            if bench.cycle <= earliest:
                assert alarm(dut.alarm) == earliest
            late = [k for k, edge in due.items() if edge < bench.cycle]
            for k in late:
                assert raised >> bits[k] & 1, f"timer {k} is late"
                del due[k]
            for k, edge in due.items():
                assert not raised >> bits[k] & 1, f"timer {k} is early: {edge} at {bench.cycle}"
            await bench.tick(max(1, earliest - bench.cycle) if bench.rng.random() < 0.5 else 1)
            if due and earliest - bench.cycle > 500:
                await bench.tick(earliest - bench.cycle - 2)
        await bench.write(Reg.ISR, isr_mask(*bits))
        await bench.middle
        assert int(dut.isr.value) == 0 and alarm(dut.alarm) is None


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def the_cycle_counter_counts_clocks(dut: Any) -> None:
    """Check that CPUC follows the edge index from its written value, also over skipped edges."""
    bench = Bench(dut)
    await bench.start()
    await bench.write(Reg.CPUC, 1000)
    at = bench.cycle - 1
    await bench.tick(12345)
    expected = 1000 + bench.cycle - at
    assert await bench.read(Reg.CPUC) == expected & MASK


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def lanai_reset_clears_what_firmware_set_up(dut: Any) -> None:
    """Check that ISR, EIMR and MYRINET have their power-up values, and that no bit can be set during reset."""
    bench = Bench(dut)
    await bench.start()
    for register in (Reg.EIMR, Reg.MYRINET):
        await bench.write(register, MASK)
    dut.set_isr.value = isr_mask(Isr.RECV)
    await bench.tick()
    dut.hold_reset.value = 1
    await bench.tick()
    await bench.tick()
    dut.set_isr.value = 0
    assert [await bench.read(r) for r in (Reg.ISR, Reg.EIMR, Reg.MYRINET)] == [0, 0, MYRINET_AFTER_RESET]
