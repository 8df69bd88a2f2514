"""Data path of the SP adapter: both engines, FIFOs, send and receive buffer, internal bus.

Strategy: the bench is processor, bus master and link. Random commands of every kind, with any alignment and lengths
around a word and the maximum, run in both directions at once. Host memory, packets and counters must match a model
without time. Stalls of bus and link, competing requests on the internal bus and gated clocks are crossed. Damaged, too
short and too long packets, start-up, room in the FIFO and bus errors have their own tests.
"""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import ClockCycles

from pymodels.nic.sp import HEADERS, USER, Coming
from pymodels.nics.sp.registers import SpSize
from tests.block.dma_bench import HOST_BYTES
from tests.block.sp_bench import EngineBench


def length(bench: EngineBench) -> int:
    """Return a random piece length: around a word, or any."""
    return bench.rng.choice([1, 2, 7, 8, 9, 15, 16, 17, bench.rng.randrange(1, 300), bench.rng.randrange(1, USER + 1)])


def place(bench: EngineBench, size: int) -> int:
    """Return a random address of `size` bytes of host memory."""
    return bench.rng.randrange(HOST_BYTES - size)


async def outgoing(bench: EngineBench, packets: int) -> None:
    """Send packets to the link: some from outstanding FETCHes, some from the processor's words."""
    for _ in range(packets):
        if bench.rng.random() < 0.3:
            await bench.launch(bench.rng.randbytes(bench.rng.randrange(SpSize.INLINE + 1)))
            continue
        sizes = [length(bench) for _ in range(bench.rng.choice([1, 1, 2]))]
        for size in sizes:
            await bench.fetch(place(bench, size), size)
        for _ in sizes:
            await bench.launch()


async def incoming(bench: EngineBench, packets: int) -> None:
    """Receive packets from the link, delivered in pieces, with status words and other commands between them."""
    rng = bench.rng
    coming = [Coming.random(rng, rng.choice([0, length(bench)]), rng.random() < 0.8)]
    coming += [Coming.random(rng, length(bench), rng.random() < 0.8) for _ in range(packets - 1)]
    for packet in coming:
        bench.comes(packet)
    for packet in coming:
        status, words = await bench.look()
        assert status == packet.status
        assert words[:6] == [packet.word(index) for index in range(6)]
        at = 0
        while packet.good_crc and at < len(packet.user) and rng.random() < 0.9:
            size = min(length(bench), len(packet.user) - at)
            await bench.deliver(place(bench, size), packet.user[at : at + size])
            at += size
        if rng.random() < 0.5:
            await bench.store(4 * rng.randrange(1000), [rng.getrandbits(32) for _ in range(rng.randrange(1, 5))])
        if rng.random() < 0.2:
            await bench.alarm()
        await bench.done_with()


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(stall=[0.0, 0.4], sleep=[False, True])
async def packets_go_out_whole_and_in_order(dut: Any, stall: float, sleep: bool) -> None:
    """Send from FETCHes of any alignment and from the processor's own bytes."""
    bench = EngineBench(dut, sleep)
    bench.pace(stall)
    await bench.start()
    await outgoing(bench, 40)
    await bench.quiet()
    bench.check()


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(stall=[0.0, 0.4], sleep=[False, True])
async def packets_are_received_piece_by_piece(dut: Any, stall: float, sleep: bool) -> None:
    """Deliver user data cut anywhere to any alignment; undelivered data are dropped."""
    bench = EngineBench(dut, sleep, start_clocks=20 if stall else 0)
    bench.pace(stall)
    await bench.start()
    await incoming(bench, 60)
    await bench.quiet()
    bench.check()


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(stall=[0.0, 0.3])
async def both_directions_run_at_once(dut: Any, stall: float) -> None:
    """Send and receive packets alternately, with the link in bursts."""
    bench = EngineBench(dut, start_clocks=10, beat=3)
    bench.pace(stall)
    await bench.start()
    for _ in range(12):
        await outgoing(bench, 2)
        await incoming(bench, 2)
    await bench.quiet()
    bench.check()


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def packets_of_impossible_size_are_reported(dut: Any) -> None:
    """Check ends within the headers, one byte too long, far too long, two joined: bad size; the next is whole."""
    bench = EngineBench(dut)
    await bench.start()
    sizes = (1, 16, HEADERS, HEADERS + USER + 2, HEADERS + USER + 8, 4000)
    packets = [Coming(bench.rng.randbytes(size)) for size in sizes]
    first, second = Coming.random(bench.rng, 40), Coming.random(bench.rng, USER)
    for packet in (*packets, Coming(first.wire + first.wire), Coming(second.wire[:-2]), second):
        bench.comes(packet)
        assert (await bench.look())[0] == packet.status
        if not packet.bad_size:
            await bench.deliver(3, packet.user)
        await bench.done_with()
    await bench.quiet()
    bench.check()


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def a_fetch_waits_for_room_and_a_packet_for_its_data(dut: Any) -> None:
    """Send three packets of 2032 bytes: the third FETCH waits for the first packet; SEND_START may precede it."""
    bench = EngineBench(dut)
    await bench.start()
    bench.hold_link(True)
    for _ in range(3):
        await bench.fetch(place(bench, USER), USER)
    await ClockCycles(dut.clk, 3000)
    assert bench.counts["tr_dma_start"] == 2
    for _ in range(3):
        await bench.launch()
    await ClockCycles(dut.clk, 3000)
    assert bench.counts["tr_dma_start"] == 3 and bench.counts["tr_tx_start"] == 2, "the send buffer holds two packets"
    bench.hold_link(False)
    await bench.quiet()
    bench.check()


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def the_start_up_is_counted_from_the_head_of_the_fifo(dut: Any) -> None:
    """Check that each command has its own start-up, idle meanwhile; a command of no bytes has none."""
    bench = EngineBench(dut, start_clocks=200)
    await bench.start()
    begun, edges = int(dut.cycle.value), int(dut.edges.value)
    await bench.store(64, [1, 2])
    await bench.store(72, [3])
    await bench.command(0, 0)
    await bench.alarm()
    bench.model.stored += 1
    await bench.quiet()
    assert 400 < int(dut.cycle.value) - begun < 480
    assert int(dut.edges.value) - edges < 120
    bench.check()


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def words_of_host_memory_are_read_by_the_processor(dut: Any) -> None:
    """Check that READ executes in the order of commands and sees the data of an earlier STORE."""
    bench = EngineBench(dut)
    bench.pace(0.3)
    await bench.start()
    for count in (1, 2, 5, 32):
        at = 4 * bench.rng.randrange(1000)
        await bench.store(at, [bench.rng.getrandbits(32)])
        await bench.bring(at, 4 * count)
        await bench.quiet()
        assert await bench.read_words(count) == bench.model.read
    assert bench.counts["set_read"] == 4
    bench.check()


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def a_bus_error_is_reported_and_the_next_command_works(dut: Any) -> None:
    """Check that the command ends, is counted with the error, and does not block later ones."""
    bench = EngineBench(dut)
    await bench.start()
    bench.pci.fail_next = True
    await bench.fetch(0x1000, 100)
    await bench.store(0x80, [1, 2, 3])
    await bench.quiet()
    assert bench.counts["st_dma_error"] == 1
    bench.counts["st_dma_error"] = 0
    await bench.launch()
    await bench.quiet()
    bench.check()
