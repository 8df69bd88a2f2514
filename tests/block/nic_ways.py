"""What whole NICs of every kind are asked: accesses of the host, a packet that nobody takes, reset, known wires."""

from __future__ import annotations

from collections.abc import Sequence

from cocotb.handle import LogicArrayObject, LogicObject
from cocotb.triggers import ClockCycles, ReadOnly

from pymodels.registers import Control, Isr
from tests.block.nic_card import BASE, CardBench

SEND, RECEIVE = 0x1000, 0x3000
"""SRAM buffers: packets to send, packets received."""


async def out_of_reset(bench: CardBench) -> None:
    """Start a bench, and take the LANai out of reset."""
    await bench.start()
    await bench.control(1 << Control.LANAI_RESET_OFF)
    while int(bench.dut.lanai_reset.value):
        await bench.edge


async def random_pio(bench: CardBench) -> None:
    """Random stores, write-combined or not, land in order; loads see them."""
    rng, image = bench.rng, bytearray(bench.sram.load(0, 0x800))
    for _ in range(60):
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


async def blocked(bench: CardBench, edges: Sequence[str]) -> None:
    """Nobody armed: STOP to the sender, every clock asleep, nothing lost; armed later, all is there."""
    dut, packet = bench.dut, bench.packet(1500)
    bench.sram.store(SEND, packet.ljust(1504, b"\0"))
    await bench.send(SEND, len(packet), wait=False)
    await bench.quiet()
    assert int(dut.st_link_stopping.value) and int(dut.st_link_stopped.value)
    before = [int(dut[name].value) for name in edges]
    await ClockCycles(dut.clk, 2000)
    assert [int(dut[name].value) for name in edges] == before
    await bench.arm(RECEIVE, RECEIVE + 0x1000)
    await bench.isr(Isr.RECV)
    await ClockCycles(dut.clk, 3)
    assert bench.sram.load(RECEIVE, len(packet) + 1) == packet + b"\0"


async def swallowed(bench: CardBench) -> None:
    """LANai reset: armed buffers are forgotten, packets vanish and are counted, firmware state is cleared."""
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


async def all_known(bench: CardBench) -> None:
    """Every wire of the bench's top level has a value after reset (Icarus keeps X)."""
    dut = bench.dut
    await bench.start()
    await ClockCycles(dut.clk, 20)
    await ReadOnly()
    names = [handle._name for handle in dut if isinstance(handle, (LogicObject, LogicArrayObject))]
    names = [name for name in names if not name.startswith(("sram_", "unused"))]
    assert len(names) > 70
    assert [name for name in names if not dut[name].value.is_resolvable] == []
