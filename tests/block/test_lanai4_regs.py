"""Special registers of the LANai 4.

Strategy: random reads and writes of both ports, in the same clocks, and random event strobes are applied. A small model
keeps ISR, EIMR, the plain registers, errors and counters as the register map defines them, and every read must agree.
Limits, which name the last word on this chip, alignment, and the one timer have their own tests.
"""

from __future__ import annotations

import random
from typing import Any

import cocotb

from pymodels.nics.lanai4.registers import MYRINET_AFTER_RESET, Isr4, Reg4, Size4
from tb.agents.grid import alarm
from tests.block.netlists import sleeping_clocks
from tests.block.regs_bench import MASK, Ports

PLAIN = (Reg4.CKS, Reg4.DMA_STS, Reg4.TIMEOUT, Reg4.DEBUG, Reg4.LED, Reg4.WRITE_ENABLE)
STROBES = {
    Reg4.RMP: "w_rmp", Reg4.RML: "w_rml", Reg4.SMP: "w_smp", Reg4.SML: "w_sml", Reg4.SMLT: "w_smlt", Reg4.SA: "w_sa",
    Reg4.EAR: "w_ear", Reg4.LAR: "w_lar", Reg4.DMA_DIR: "w_dir", Reg4.DMA_CTR: "w_ctr",
}  # fmt: skip
LIMITS = (Reg4.RML, Reg4.SML, Reg4.SMLT)
OFF_BY = 3 << Isr4.OFF_BY_1
LAN_SIGNALS = 0xFF << Isr4.LAN0_SIG
INPUTS = (
    "hold_reset", "cpu_reg", "host_reg", "rmp", "rml", "smp", "send_limit", "sa", "ear", "lar", "dir",
    "ctr", "dma_runs", "recv_length", "recv_orun", "recv_lost", "set_isr", "set_errors", "send_started",
)  # fmt: skip


class Model:
    """Model of ISR and the related registers."""

    def __init__(self) -> None:
        self.values: dict[int, int] = dict.fromkeys((Reg4.ISR, Reg4.EIMR, Reg4.ERRORS, Reg4.RECV_LOST, *PLAIN), 0)
        self.values[Reg4.MYRINET] = MYRINET_AFTER_RESET

    def clock(self, write: tuple[int, int, bool] | None, events: dict[str, int]) -> None:
        """Apply one edge: a write (register, value, True if by the processor) and the event inputs."""
        isr, clear, signal = self.values[Reg4.ISR], 0, 0
        if write is not None:
            register, value, by_cpu = write
            if register == Reg4.ISR:
                own = 1 << Isr4.HOST_SIG if by_cpu else LAN_SIGNALS
                clear, signal = value & ~own, value & own
            elif register == Reg4.ERRORS:
                self.values[Reg4.ERRORS] &= ~value
            elif register == Reg4.RML:
                clear = 1 << Isr4.RECV | 1 << Isr4.BUFF
            elif register == Reg4.DMA_CTR and not events["dma_runs"]:
                clear = 1 << Isr4.DMA
            elif register in self.values and register != Reg4.RECV_LOST:
                self.values[register] = value
        if events["send_started"]:
            clear |= 1 << Isr4.SEND
        raised = events["set_isr"]
        if raised >> Isr4.RECV & 1:
            clear |= OFF_BY
            raised |= (events["recv_orun"] & 3) << Isr4.OFF_BY_1
        self.values[Reg4.ISR] = (isr & ~clear | signal | raised) & MASK
        self.values[Reg4.ERRORS] |= events["set_errors"]
        self.values[Reg4.RECV_LOST] += events["recv_lost"]


def meant(register: int, value: int) -> int:
    """Return the value that the engines get for a written value."""
    if register in LIMITS:
        return (value & ~3) + 4 & MASK
    return value & ~3 if register == Reg4.SMP else value & 3 if register == Reg4.SA else value


def random_events(rng: random.Random) -> dict[str, int]:
    """Return random event inputs of one clock."""
    settable = [bit for bit in Isr4 if bit not in (Isr4.OFF_BY_1, Isr4.OFF_BY_2, Isr4.TIME)]
    return {
        "set_isr": sum(1 << bit for bit in settable if rng.random() < 0.05),
        "set_errors": 1 << rng.randrange(6) if rng.random() < 0.1 else 0,
        "recv_orun": rng.randrange(4),
        "recv_lost": int(rng.random() < 0.1),
        "send_started": int(rng.random() < 0.1),
        "dma_runs": int(rng.random() < 0.5),
    }


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def random_accesses_and_events_follow_the_map(dut: Any) -> None:
    """Access both ports at once, the processor first; events in any clock; set has priority over clear."""
    bench, model = Ports(dut, INPUTS), Model()
    rng = bench.rng
    await bench.start()
    registers = [*model.values, *STROBES]
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
                    assert int(dut[f"{served}_reg_rdata"].value) == model.values[register], Reg4(register).name
            else:
                write = (register, value, served == "cpu")
                assert int(dut.w_data.value) == meant(register, value)
        for register, wire in STROBES.items():
            assert int(dut[wire].value) == int(write is not None and write[0] == register)
        assert int(dut.isr.value) == model.values[Reg4.ISR]
        assert int(dut.intr_line.value) == int(model.values[Reg4.ISR] & model.values[Reg4.EIMR] != 0)
        await bench.tick()
        model.clock(write, events)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def values_of_the_engines_read_back(dut: Any) -> None:
    """Check the read values: limits as the last word, the rest unchanged."""
    bench = Ports(dut, INPUTS)
    await bench.start()
    put = {"rmp": 0x1234, "rml": 0x2000, "smp": 0x344, "send_limit": 0x1008, "sa": 2, "ear": 0x89ABCDE0,
           "lar": 0x4440, "dir": 1, "ctr": 0x128, "recv_length": 77, "dma_runs": 1}  # fmt: skip
    for name, value in put.items():
        dut[name].value = value
    expected = {
        Reg4.RMP: 0x1234, Reg4.RML: 0x1FFC, Reg4.SMP: 0x344, Reg4.SML: 0x1004, Reg4.SMLT: 0x1004, Reg4.SA: 2,
        Reg4.EAR: 0x89ABCDE0, Reg4.LAR: 0x4440, Reg4.DMA_DIR: 1, Reg4.DMA_CTR: 0x128, Reg4.RECV_LENGTH: 77,
        Reg4.DMA_STATUS: 1, Reg4.VERSION: Size4.VERSION, 0xFC: 0,
    }  # fmt: skip
    for register, value in expected.items():
        assert await bench.read(register, bench.rng.choice(["cpu", "host"])) == value, hex(register)


@cocotb.test(timeout_time=1, timeout_unit="ms")
@sleeping_clocks()
async def the_timer_sets_its_bit_when_it_wraps(dut: Any) -> None:
    """Check that IT counts half microseconds down, and TIME is set at the first edge after the wrap."""
    bench = Ports(dut, INPUTS)
    await bench.start()
    await bench.write(Reg4.RTC, 1000)
    base = 1000 - bench.ticks(bench.cycle - 1)
    await bench.write(Reg4.IT, 5)
    due = bench.ticks(bench.cycle - 1) + 6
    await bench.middle
    assert alarm(dut.alarm) is not None
    while bench.ticks(bench.cycle) < due:
        assert not int(dut.isr.value) >> Isr4.TIME & 1
        await bench.tick(7)
    await bench.tick()
    await bench.middle
    assert int(dut.isr.value) >> Isr4.TIME & 1
    assert await bench.read(Reg4.RTC) == base + bench.ticks(bench.cycle - 1)
    assert await bench.read(Reg4.IT) == MASK


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def lanai_reset_clears_what_firmware_set_up_before_the_clock_may_stop(dut: Any) -> None:
    """Check that EIMR and MYRINET, each alone, have their power-up values once the block is idle."""
    bench = Ports(dut, INPUTS)
    await bench.start()
    for register in (Reg4.MYRINET, Reg4.EIMR):
        await bench.write(register, MASK)
        await bench.middle
        assert not int(dut.busy.value)
        await bench.tick()
        dut.hold_reset.value = 1
        await bench.middle
        assert int(dut.busy.value)
        await bench.tick()
        await bench.middle
        assert not int(dut.busy.value)
        assert await bench.read(register) == (MYRINET_AFTER_RESET if register == Reg4.MYRINET else 0)
        dut.hold_reset.value = 0
