"""Shared tests of whole NICs of all kinds: host accesses, interrupts, packets without a buffer, reset, idle clocks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from cocotb.handle import LogicArrayObject, LogicObject, PackedObject
from cocotb.triggers import ClockCycles, ReadOnly
from cocotb.utils import get_sim_time

from pymodels.registers import Control, Isr, Reg, isr_mask
from tests.block.cases import some
from tests.block.netlists import on_netlist
from tests.block.nic_card import BASE, CardBench

Step = Callable[[], Awaitable[None]]
SEND, RECEIVE = 0x1000, 0x3000
"""SRAM buffers: packets to send, received packets."""
EDGES = ("edges", "link_edges", "pci_edges")
"""Counters of clock edges in the bench."""


async def sleeps(bench: CardBench, clocks: int) -> None:
    """Check that no clock has an edge during `clocks` NIC clocks, unless the NIC is a netlist."""
    before = edges(bench)
    await ClockCycles(bench.dut.clk, clocks)
    assert on_netlist() or edges(bench) == before


def edges(bench: CardBench) -> list[int]:
    """Return the number of edges of each clock since reset."""
    return [int(bench.dut[name].value) for name in EDGES]


async def out_of_reset(bench: CardBench) -> None:
    """Start a bench and release the LANai from reset."""
    await bench.start()
    await bench.control(1 << Control.LANAI_RESET_OFF)
    while int(bench.dut.lanai_reset.value):
        await bench.edge


async def random_pio(bench: CardBench) -> None:
    """Check that random stores, write-combined or not, arrive in order, and that loads see them."""
    rng, image = bench.rng, bytearray(bench.sram.load(0, 0x800))
    for _ in some(range(60)):
        length = rng.choice([1, 2, 4, 8, 32, rng.randrange(1, 90)])
        at = rng.randrange(0x800 - length)
        data = rng.randbytes(length)
        image[at : at + length] = data
        bench.cpu.store(BASE + at, data, wc=rng.random() < 0.5)
        if rng.random() < 0.3:
            at = rng.randrange(0x800 - 8)
            count = rng.randrange(1, 9 - at % 8)
            assert await bench.cpu.load(BASE + at, count) == bytes(image[at : at + count])
    await bench.quiet()
    assert bench.sram.load(0, 0x800) == bytes(image)


async def blocked(bench: CardBench) -> None:
    """Check that a packet without a buffer is held by STOP, with idle clocks and no loss, and arrives once one is
    armed.
    """
    dut, packet = bench.dut, bench.packet(1500)
    bench.sram.store(SEND, packet.ljust(1504, b"\0"))
    await bench.send(SEND, len(packet), wait=False)
    await bench.quiet()
    assert int(dut.st_link_stopping.value) and int(dut.st_link_stopped.value)
    await sleeps(bench, 2000)
    await bench.arm(RECEIVE, RECEIVE + 0x1000)
    await bench.isr(Isr.RECV)
    await ClockCycles(dut.clk, 3)
    assert bench.sram.load(RECEIVE, len(packet) + 1) == packet + b"\0"


async def swallowed(bench: CardBench) -> None:
    """Check that LANai reset clears armed buffers and firmware state, and that packets are dropped and counted."""
    dut = bench.dut
    await bench.arm(RECEIVE, RECEIVE + 0x1000)
    packet = bench.packet(400)
    bench.sram.store(SEND, packet)
    await bench.send(SEND, len(packet), wait=False)
    await bench.control(1 << Control.LANAI_RESET_ON)
    await bench.quiet()
    assert int(dut.isr.value) == 0 and int(dut.lanai_reset.value)
    assert bench.lost == 1
    assert int(dut.st_link_in_flight.value) == int(dut.st_in_flight.value) == 0


async def interrupts(bench: CardBench, isr_at: int, cleared: int) -> None:
    """Check the path from HOST_SIG through EIMR and the card's enable to INTA#.

    INTA# is released when the host writes `cleared` to ISR at `isr_at`.
    """
    dut = bench.dut
    await bench.lanai_write(Reg.ISR, isr_mask(Isr.HOST_SIG))
    await bench.lanai_write(Reg.EIMR, isr_mask(Isr.HOST_SIG))
    await bench.quiet()
    assert not int(dut.intr.value)
    await bench.control(1 << Control.IRQ_ENABLE)
    await bench.quiet()
    assert int(dut.intr.value)
    await bench.host_write(isr_at, cleared)
    await bench.quiet()
    assert not int(dut.intr.value)


async def contended(bench: CardBench, dma: Awaitable[None], accesses: int) -> None:
    """Check that a processor requesting in every clock always gets a grant, except during a DMA with one port."""
    bench.dut.cpu_req.value = 1
    bench.dut.sleep.value = 0
    await bench.edge
    assert await bench.refusals(200) == 0
    await dma
    refused = await bench.refusals(900)
    assert (refused > 200) if accesses == 1 else (refused == 0)


async def sleeping_changes_nothing(bench: CardBench, out: Step, step: Step) -> None:
    """Reset, do `out`, then `step` four times (on Icarus once): equal times of all trace records, gated or not."""
    logs, ran, steps = [], [], some(range(4))
    for sleep in (0, 1):
        bench.dut.rst.value = 1
        bench.dut.sleep.value = sleep
        bench.rng.seed(11)
        await bench.start()
        await out()
        begin_at = int(get_sim_time("ps")) - bench.origin
        bench.log.clear()
        for _ in steps:
            await step()
        logs.append([(time - begin_at, *rest) for time, *rest in bench.log])
        ran.append(sum(edges(bench)))
    assert logs[0] == logs[1] and len(logs[0]) > 7 * len(steps)
    assert ran[1] < ran[0] * 0.7


async def all_known(bench: CardBench) -> None:
    """Check that every wire of the bench's top level has a value after reset (Icarus keeps X).

    The values of a trace record must be known with its strobe.
    """
    dut = bench.dut
    await bench.start()
    await ClockCycles(dut.clk, 20)
    await ReadOnly()
    names = [handle._name for handle in dut if isinstance(handle, (LogicObject, LogicArrayObject, PackedObject))]
    told = {handle._name for handle in dut if handle._name.startswith("tr_") and not isinstance(handle, LogicObject)}
    told |= {name for name in names if name.endswith("_trace")}  # trace bundles of these engines
    names = [name for name in names if name not in told and not name.startswith(("sram_", "mem_", "unused"))]
    assert len(names) > 70
    assert [name for name in names if not dut[name].value.is_resolvable] == []
