"""PCI master and target cores against each other and against a memory model.

Strategy: random writes and reads of random length and alignment go through one master and one target. The memory of the
target must equal a byte array, and every read the array's content at that time. Widths of both sides, wait states,
stalls of both backends, disconnects, retries and an intermittent grant are crossed. A protocol monitor watches every
clock. Special cases (aborts, latency timer, burst limit, throughput) have their own tests.
"""

from __future__ import annotations

import random
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge

from pymodels.pci.pci import Command, TargetTiming, Termination, transaction_clocks
from pymodels.settings import MASTER, TARGET
from tb.agents.pci import PciMonitor
from tb.agents.settings import SettingsPort, drive
from tb.agents.streams import MasterPort, TargetMemory, sometimes

BASE = 0xE0000000
SIZE = 1 << 14


class Bench:
    """Driver, memory and monitor around sim_pci_pair."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.rng = random.Random(cocotb.RANDOM_SEED)
        self.model = bytearray(SIZE)
        Clock(dut.clk, 10, unit="ns", impl="gpi").start(start_high=False)
        self._ports = SettingsPort(dut.m_cfg, MASTER), SettingsPort(dut.t_cfg, TARGET)
        settings = {
            "m_wide": 1,
            "t_wide": 1,
            "bar_base": BASE,
            "bar_size_log2": 14,
            "hold_grant": 0,
            "cfg_latency_timer": 0,
            "cfg_max_burst": 0,
            "cfg_start_delay": 0,
            "cfg_irdy_wait": 4,
            "cfg_line_bytes": 32,
            "cfg_devsel": 1,
            "cfg_write_initial": 0,
            "cfg_read_initial": 0,
            "cfg_subsequent": 0,
            "cfg_read_wait": 10,
            "cfg_stall_limit": 4,
            "cfg_max_phases": 0,
            "cfg_discard": 32768,
            "cfg_target_abort": 0,
        }
        self.set(**settings)
        dut.rst.value = 1
        self.master = MasterPort(dut, "", dut.clk)
        self.memory = TargetMemory(dut, "", dut.clk, SIZE)
        self.monitor = PciMonitor(dut, "pci", dut.clk, dut.rst)

    def set(self, **settings: int) -> None:
        """Set run-time inputs."""
        drive(self.dut, settings, self._ports)

    async def start(self) -> None:
        await ClockCycles(self.dut.clk, 4)
        self.dut.rst.value = 0
        await ClockCycles(self.dut.clk, 2)

    def write(self, offset: int, data: bytes) -> Any:
        self.model[offset : offset + len(data)] = data
        return self.master.write(BASE + offset, data)

    async def finish(self) -> None:
        """Wait until all commands are done, and check an idle bus and the memory."""
        await self.master.drain()
        for _ in range(200):
            await RisingEdge(self.dut.clk)
            if not int(self.dut.busy.value):
                break
        assert not int(self.dut.busy.value), "still busy with nothing to do"
        assert self.memory.bytes == self.model
        assert self.monitor.rules.idle


async def begin(dut: Any) -> Bench:
    bench = Bench(dut)
    await bench.start()
    return bench


async def random_traffic(bench: Bench, count: int) -> None:
    """Run random commands; reads must return the model's content when they were queued."""
    rng, expected = bench.rng, []
    for _ in range(count):
        length = rng.choice([1, 2, 4, 8, rng.randrange(1, 40), rng.randrange(1, 300)])
        offset = rng.randrange(SIZE - length)
        if rng.random() < 0.5:
            bench.write(offset, rng.randbytes(length))
        else:
            command = bench.master.read(BASE + offset, length)
            expected.append((command, bytes(bench.model[offset : offset + length])))
        if rng.random() < 0.2:
            await bench.master.drain()
    await bench.finish()
    for command, data in expected:
        assert command.data == data and not command.error, f"read at {command.address:#x}"


@cocotb.test(timeout_time=2, timeout_unit="ms")
@cocotb.parametrize(m_wide=[0, 1], t_wide=[0, 1], stalls=[False, True])
async def random_bursts_leave_the_memory_as_the_model(dut: Any, m_wide: int, t_wide: int, stalls: bool) -> None:
    bench = await begin(dut)
    bench.set(m_wide=m_wide, t_wide=t_wide)
    if stalls:
        rng = bench.rng
        bench.memory.stall(sometimes(0.5, rng), sometimes(0.5, rng))
        bench.memory.latency = iter(lambda: rng.choice([1, 2, 5, 9]), None)
        bench.master.pace(sometimes(0.3, rng), sometimes(0.4, rng), sometimes(0.4, rng))
    await random_traffic(bench, 60)
    wide = {t.wide for t in bench.monitor.transactions if len(t.phases) > 2}
    assert wide == {bool(m_wide and t_wide)}


@cocotb.test(timeout_time=2, timeout_unit="ms")
@cocotb.parametrize(width=[0, 1], phases=[1, 2, 3, 7], slow=[False, True])
async def disconnects_and_waits_lose_nothing(dut: Any, width: int, phases: int, slow: bool) -> None:
    bench = await begin(dut)
    bench.set(m_wide=width, t_wide=width, cfg_max_phases=phases, cfg_irdy_wait=bench.rng.randrange(7))
    if slow:
        bench.set(cfg_devsel=2, cfg_write_initial=5, cfg_read_initial=7, cfg_subsequent=3, cfg_start_delay=3)
    await random_traffic(bench, 40)
    assert max(len(t.phases) for t in bench.monitor.transactions) == phases
    assert any(t.end is Termination.DISCONNECT for t in bench.monitor.transactions)


@cocotb.test(timeout_time=3, timeout_unit="ms")
@cocotb.parametrize(width=[0, 1])
async def slow_reads_are_retried_and_answered_once(dut: Any, width: int) -> None:
    bench = await begin(dut)
    bench.set(m_wide=width, t_wide=width, cfg_read_wait=2)
    bench.memory.latency = iter(lambda: bench.rng.choice([1, 20, 40]), None)
    strobes = 0

    async def count_strobes() -> None:
        nonlocal strobes
        while True:
            await RisingEdge(dut.clk)
            strobes += int(dut.m_retry.value)

    counting = cocotb.start_soon(count_strobes())
    await random_traffic(bench, 40)
    counting.cancel()
    retries = sum(t.end is Termination.RETRY for t in bench.monitor.transactions)
    assert strobes == retries > 0, "the master reports each retry once"


@cocotb.test(timeout_time=3, timeout_unit="ms")
async def a_target_that_stalls_for_long_retries_and_stops(dut: Any) -> None:
    bench = await begin(dut)
    rng = bench.rng
    bench.set(cfg_stall_limit=1)
    bench.memory.stall(sometimes(0.9, rng), sometimes(0.5, rng))
    await random_traffic(bench, 40)
    ends = {t.end for t in bench.monitor.transactions if t.command.writes}
    assert {Termination.RETRY, Termination.DISCONNECT, Termination.COMPLETION} <= ends


@cocotb.test(timeout_time=3, timeout_unit="ms")
@cocotb.parametrize(width=[0, 1])
async def an_intermittent_grant_loses_nothing(dut: Any, width: int) -> None:
    bench = await begin(dut)
    bench.set(m_wide=width, t_wide=width, cfg_latency_timer=6)

    async def take_grant_away() -> None:
        while True:
            await ClockCycles(dut.clk, bench.rng.randrange(1, 12))
            dut.hold_grant.value = bench.rng.randrange(2)

    task = cocotb.start_soon(take_grant_away())
    await random_traffic(bench, 40)
    task.cancel()


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(width=[0, 1], timer=[4, 16, 0])
async def a_burst_ends_when_the_timer_has_run_out_without_grant(dut: Any, width: int, timer: int) -> None:
    bench = await begin(dut)
    bench.set(m_wide=width, t_wide=width, cfg_latency_timer=timer)
    bench.write(0, bench.rng.randbytes(800))
    while int(dut.pci_frame_n.value):
        await RisingEdge(dut.clk)
    bench.set(hold_grant=1)
    while not bench.monitor.transactions:
        await RisingEdge(dut.clk)
    first = bench.monitor.transactions[0]
    bench.set(hold_grant=0)
    await bench.finish()
    if timer:
        assert timer < first.clocks <= timer + 4
    else:
        assert len(first.phases) == (100 if width else 200)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def bursts_are_split_at_the_limit(dut: Any) -> None:
    bench = await begin(dut)
    bench.set(cfg_max_burst=64)
    bench.write(3, bench.rng.randbytes(500))
    read = bench.master.read(BASE + 5, 400)
    await bench.finish()
    assert read.data == bytes(bench.model[5:405])
    assert max(len(t.phases) for t in bench.monitor.transactions) == 8
    assert all(t.address % 64 == BASE % 64 for t in bench.monitor.transactions)


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(length=[4, 64], write=[False, True])
async def the_master_aborts_an_unanswered_transaction(dut: Any, length: int, write: bool) -> None:
    bench = await begin(dut)
    lost = bench.master.write(0x1000, bytes(length)) if write else bench.master.read(0x1000, length)
    bench.write(0x20, b"after it")
    await bench.finish()
    assert lost.done and lost.error
    assert write or lost.data == b"\xff" * length
    assert [t.end for t in bench.monitor.transactions] == [Termination.MASTER_ABORT, Termination.COMPLETION]


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(length=[4, 64], write=[False, True])
async def a_target_abort_is_reported(dut: Any, length: int, write: bool) -> None:
    bench = await begin(dut)
    bench.set(cfg_target_abort=1)
    lost = bench.master.write(BASE, bytes(length)) if write else bench.master.read(BASE, length)
    await bench.master.drain()
    bench.set(cfg_target_abort=0)
    bench.write(0x20, b"after it")
    await bench.finish()
    assert lost.done and lost.error
    assert bench.monitor.transactions[0].end is Termination.TARGET_ABORT


@cocotb.test(timeout_time=2, timeout_unit="ms")
@cocotb.parametrize(width=[0, 1], length=[4, 8, 40])
async def a_read_sees_the_writes_posted_before_it(dut: Any, width: int, length: int) -> None:
    bench = await begin(dut)
    bench.set(m_wide=width, t_wide=width, cfg_read_wait=2)
    bench.memory.stall(sometimes(0.9, bench.rng), sometimes(0.0, bench.rng))
    for _ in range(10):
        data = bench.rng.randbytes(length)
        bench.write(0x40, data)
        read = bench.master.read(BASE + 0x40, length)
        await bench.master.drain()
        assert read.data == data
    await bench.finish()


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def bursts_choose_the_read_command_by_length(dut: Any) -> None:
    bench = await begin(dut)
    for length in (4, 8, 32, 64):
        bench.master.read(BASE, length)
    await bench.finish()
    assert [t.command for t in bench.monitor.transactions] == [
        Command.MEMORY_READ,
        Command.MEMORY_READ,
        Command.MEMORY_READ_LINE,
        Command.MEMORY_READ_MULTIPLE,
    ]


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(width=[0, 1], initial=[0, 3], subsequent=[0, 2], devsel=[1, 2])
async def a_burst_takes_the_clocks_of_the_model(
    dut: Any, width: int, initial: int, subsequent: int, devsel: int
) -> None:
    bench = await begin(dut)
    bench.set(m_wide=width, t_wide=width, cfg_write_initial=initial, cfg_subsequent=subsequent, cfg_devsel=devsel)
    bench.write(0, bench.rng.randbytes(256))
    await bench.finish()
    (burst,) = bench.monitor.transactions
    phases = 32 if width else 64
    assert len(burst.phases) == phases
    assert burst.clocks == transaction_clocks(TargetTiming(devsel, initial, subsequent), phases)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def long_reads_run_at_a_data_phase_a_clock(dut: Any) -> None:
    bench = await begin(dut)
    bench.model[:] = bench.rng.randbytes(SIZE)
    bench.memory.bytes[:] = bench.model
    read = bench.master.read(BASE, 2048)
    await bench.finish()
    assert read.data == bytes(bench.model[:2048])
    (burst,) = bench.monitor.transactions
    assert len(burst.phases) == 256 and burst.clocks < 256 + 10
