"""PCI agents of sanlab.agents against a card of this tree: its master, target and configuration space.

Strategy: the card was written and proved without these agents. Random writes and reads of the agents reach the memory
behind the card's target. Those of the card's master reach the memory of an agent. Wait states are random, terminations
scripted. Each memory must equal a byte array. The bus rules are checked in every clock. The same tests run on 64 and on
32 bits. Behaviour that the card lacks is tested between agents, in `test_agents_pci_pair.py`.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles

from pymodels.pci.pci import MYRICOM_DEVICE, MYRICOM_VENDOR
from pymodels.settings import CARD
from tb.agents.settings import SettingsPort, drive
from tb.agents.streams import MasterPort, TargetMemory, sometimes
from tb.sanlab.agents import pci
from tests.block.cases import cases, some
from tests.block.pci_host_bench import QUICK

BASE = 0xE000_0000
MEMORY = 0x10_0000
SIZE = 1 << 12
SLOT = 3


def choices(rng: random.Random, *values: int) -> Iterator[int]:
    """Yield random values for ever."""
    while True:
        yield rng.choice(values)


def lengths(rng: random.Random) -> list[int]:
    """Return lengths of transfers, bursts first."""
    return [64, 80, 33, *some([rng.choice([1, 2, 4, 8, rng.randrange(1, 150)]) for _ in range(60)])]


class Bench:
    """Card, its backends, and on the bus a master, a target, an arbiter and a monitor."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.rng = random.Random(cocotb.RANDOM_SEED)
        self._ports = [SettingsPort(dut.card, CARD, "card_")]
        settings = {name: value for name, value in QUICK.items() if name.startswith("card_")}
        drive(dut, {**settings, "base": BASE}, self._ports)
        dut.rst.value = 1
        Clock(dut.clk, 30, unit="ns", impl="gpi").start(start_high=False)
        self.card_memory = TargetMemory(dut, "", dut.clk, SIZE)
        self.card_master = MasterPort(dut, "", dut.clk)
        self.bus = pci.PciBus.from_prefix(dut, "pci", slot=SLOT)
        self.memory = bytearray(SIZE)
        given = (self.bus, dut.clk, dut.rst)
        self.master = pci.PciMaster(*given)
        self.target = pci.PciTarget(*given, self.memory, MEMORY)
        self.arbiter = pci.PciArbiter(*given)
        self.monitor = pci.PciMonitor(*given)

    def set(self, **settings: int) -> None:
        """Set run-time inputs."""
        drive(self.dut, settings, self._ports)

    def slow(self) -> None:
        """Give all agents random wait states."""
        rng = self.rng
        self.master.irdy_waits = choices(rng, 0, 0, 1, 5)
        self.target.initial_waits = choices(rng, 0, 3, 9)
        self.target.waits = choices(rng, 0, 0, 1, 6)
        self.card_memory.stall(sometimes(0.3, rng), sometimes(0.3, rng))
        self.card_master.pace(sometimes(0.2, rng), sometimes(0.3, rng), sometimes(0.3, rng))

    @property
    def wide(self) -> bool:
        """True on a 64-bit bus."""
        return self.bus.width == 64


async def begin(dut: Any) -> Bench:
    bench = Bench(dut)
    await ClockCycles(dut.clk, 4)
    dut.rst.value = 0
    return bench


def ends(bench: Bench) -> set[pci.Termination]:
    return {done.end for done in bench.monitor.transactions}


@cocotb.test(timeout_time=5, timeout_unit="ms")
@cases(wide=[True, False], slow=[False, True])
async def a_master_reads_and_writes_the_memory_of_a_card(dut: Any, wide: bool, slow: bool) -> None:
    bench = await begin(dut)
    rng, model = bench.rng, bytearray(SIZE)
    bench.master.wide = wide and bench.wide
    bench.set(card_max_phases=rng.choice([0, 2, 3]))
    if slow:
        bench.slow()
    for length in lengths(rng):
        at = rng.randrange(SIZE - length)
        if rng.random() < 0.5:
            model[at : at + length] = data = rng.randbytes(length)
            await bench.master.write(BASE + at, data)
        else:
            assert await bench.master.read(BASE + at, length) == model[at : at + length]
    assert bench.card_memory.bytes == model
    widths = {done.wide for done in bench.monitor.transactions if len(done.phases) > 1}
    assert widths == {bench.master.wide}


@cocotb.test(timeout_time=5, timeout_unit="ms")
@cases(devsel=[0, 1, 2, 3], slow=[False, True])
async def a_target_serves_the_master_of_a_card(dut: Any, devsel: int, slow: bool) -> None:
    bench = await begin(dut)
    rng, model = bench.rng, bytearray(SIZE)
    bench.target.devsel = devsel
    bench.target.wide = bench.wide and rng.random() < 0.7
    if slow:
        bench.slow()
    expected = []
    retry, disconnect = pci.Termination.RETRY, pci.Termination.DISCONNECT
    answers = [pci.Answer(disconnect, 2), pci.Answer(retry), pci.Answer(disconnect, 1, with_data=True), pci.Answer()]
    for length, answer in zip(lengths(rng), itertools.cycle(answers), strict=False):
        at = rng.randrange(SIZE - length)
        bench.target.script.append(answer)
        if rng.random() < 0.5:
            model[at : at + length] = data = rng.randbytes(length)
            bench.card_master.write(MEMORY + at, data)
        else:
            expected.append((bench.card_master.read(MEMORY + at, length), bytes(model[at : at + length])))
        if rng.random() < 0.3:
            await bench.card_master.drain()
    await bench.card_master.drain()
    await ClockCycles(dut.clk, 10)
    assert bench.memory == model
    assert [command.data for command, _ in expected] == [data for _, data in expected]
    assert ends(bench) == {retry, disconnect, pci.Termination.COMPLETION}


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def masters_of_the_card_and_of_an_agent_share_the_bus(dut: Any) -> None:
    bench = await begin(dut)
    sent = bench.rng.randbytes(2000)
    bench.card_master.write(MEMORY, sent)
    bench.set(card_latency_timer=16)
    bench.master.latency_timer = 16
    for at in range(0, SIZE, 256):
        await bench.master.write(BASE + at, bytes([at >> 8]) * 256)
    await bench.card_master.drain()
    await ClockCycles(dut.clk, 10)
    assert bench.memory[:2000] == sent
    assert bench.card_memory.bytes == b"".join(bytes([part]) * 256 for part in range(SIZE // 256))
    assert {done.master for done in bench.monitor.transactions} == {0, 1}
    assert set(bench.arbiter.grants) == {0, 1}


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def a_card_is_configured(dut: Any) -> None:
    bench = await begin(dut)
    master = bench.master
    identity = await master.config_read(SLOT, 0)
    assert int.from_bytes(identity, "little") == MYRICOM_DEVICE << 16 | MYRICOM_VENDOR
    await master.config_write(SLOT, 0x10, b"\xff\xff\xff\xff")
    assert int.from_bytes(await master.config_read(SLOT, 0x10), "little") == 0xFF00_0000
    await master.config_write(SLOT, 0x10, (0xD000_0000).to_bytes(4, "little"))
    await master.write(0xD000_0010, b"moved")
    assert bench.card_memory.bytes[0x10:0x15] == b"moved"
    with pytest.raises(pci.MasterAbortError, match="CONFIGURATION_READ 0x00000000: no target asserted DEVSEL#"):
        await master.config_read(SLOT + 1, 0)


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cases(length=[4, 64], write=[False, True])
async def aborts_reach_the_caller_of_a_master(dut: Any, length: int, write: bool) -> None:
    bench = await begin(dut)
    for address, error in ((0x1000, pci.MasterAbortError), (BASE, pci.TargetAbortError)):
        bench.set(card_target_abort=int(address == BASE))
        with pytest.raises(error):
            await (bench.master.write(address, bytes(length)) if write else bench.master.read(address, length))
    bench.set(card_target_abort=0)
    await bench.master.write(BASE, b"after it")
    assert bench.card_memory.bytes[:8] == b"after it"
    assert ends(bench) == {pci.Termination.MASTER_ABORT, pci.Termination.TARGET_ABORT, pci.Termination.COMPLETION}


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def aborts_of_a_target_reach_the_master_of_a_card(dut: Any) -> None:
    bench = await begin(dut)
    bench.target.script += [pci.Answer(pci.Termination.TARGET_ABORT), pci.Answer(pci.Termination.MASTER_ABORT)]
    commands = [bench.card_master.write(MEMORY, bytes(64)) for _ in range(3)]
    await bench.card_master.drain()
    assert [command.error for command in commands] == [True, True, False]


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def a_burst_of_a_master_moves_a_data_phase_in_each_clock(dut: Any) -> None:
    bench = await begin(dut)
    await bench.master.write(BASE, bytes(512))
    (burst,) = bench.monitor.transactions
    phases = 512 // (8 if bench.wide else 4)
    assert (len(burst.phases), burst.clocks) == (phases, phases + 2)
