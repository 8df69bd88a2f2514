"""FIFO card with cells: PCI segment with the host's CPU on one side, the link partner on the other.

Strategy: as for buffers (`test_fifo_card`), the bench is a host that does everything by stores and loads, and a link.
Sent cells are compared byte by byte with the model's cells, their routes and checks. Received cells are good ones, and
ones with a wrong size, HEC or CRC-8.
"""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import ClockCycles

from pymodels.nics.fifo.cells import Cell
from pymodels.nics.fifo.registers import Error, Form, Region, Size, Status, circuit_of
from tests.block.cases import some
from tests.block.fifo_bench import BASE, EDGES, FifoBench, begin
from tests.block.netlists import sleeping_clocks

ROUTES = {number: bytes(0x80 | 3 * hop + number for hop in range(number % 8)) for number in (0, 1, 2, 4, 7, 8, 61, 63)}
"""Circuits that the tests use, at least one for each number of route bytes."""


async def circuits(dut: Any, **settings: int) -> FifoBench:
    """Return a bench with cells and these circuits."""
    bench = await begin(dut, Form.CELLS, **settings)
    for number, route in ROUTES.items():
        await bench.connect(number, route)
    return bench


def a_cell(bench: FifoBench) -> Cell:
    """Return a cell on one of the circuits; its header's first byte is not a route byte."""
    header = bench.rng.getrandbits(31) & ~(Size.CIRCUITS - 1 << 4) | bench.rng.choice(list(ROUTES)) << 4
    return Cell(header, bench.rng.randbytes(Size.PAYLOAD))


def harm(bench: FifoBench, cell: Cell) -> tuple[bytes, bool]:
    """Return a damaged cell as bytes on the wire, and True if their CRC-8 is good."""
    wire, kind = cell.wire, bench.rng.randrange(5)
    if kind == 0:
        return wire, False
    if kind == 1:
        return wire + bench.rng.randbytes(bench.rng.choice([1, 2, 3, 50, 2100])), True
    if kind == 2:
        return wire[: bench.rng.choice([1, 4, 5, 47, 48, 52])], True
    at = bench.rng.randrange(5)
    return wire[:at] + bytes([wire[at] ^ 1 << bench.rng.randrange(8)]) + wire[at + 1 :], True


async def drain(bench: FifoBench) -> None:
    """Receive all cells."""
    while bench.model.cells:
        await bench.next_cell()


@cocotb.test(timeout_time=8, timeout_unit="ms")
@cocotb.parametrize((("wide", "latency", "combine"), [(0, 2, False), (0, 1, True), (1, 0, True)]))
async def a_cell_leaves_with_route_and_check(dut: Any, wide: int, latency: int, combine: bool) -> None:
    """Send on every circuit, stored word by word or combined: route bytes, 53 bytes; trace keys are the header."""
    bench = await circuits(dut, wide=wide, latency=latency)
    for number in some(list(ROUTES)):
        cell = Cell(bench.rng.getrandbits(31) & ~0x3F0 | number << 4, bench.rng.randbytes(Size.PAYLOAD))
        assert circuit_of(cell.header) == number
        bench.log.clear()
        await bench.send_cell(cell, combine)
        await bench.quiet()
        keys = {name: key for _, name, key in bench.log if name.startswith("tr_tx")}
        assert keys == dict.fromkeys(("tr_tx_start", "tr_tx_read", "tr_tx_head", "tr_tx_tail"), cell.header)
    await bench.check()


@cocotb.test(timeout_time=8, timeout_unit="ms")
async def the_check_of_a_header_is_that_of_the_standard(dut: Any) -> None:
    """Check the HEC of an idle cell (00 00 00 01: 52) and of an unassigned one (00 00 00 00: 55) (ITU-T I.432)."""
    bench = await circuits(dut)
    for header, check in ((1, 0x52), (0, 0x55)):
        await bench.send_cell(Cell(header, bytes(48)))
        assert bench.expected[-1][4] == check
        bench.arrive(header.to_bytes(4, "big") + bytes([check]) + bytes(48))
        await bench.quiet()
        assert await bench.next_cell() == Cell(header, bytes(48))
    await bench.check()


@cocotb.test(timeout_time=16, timeout_unit="ms")
@cocotb.parametrize((("wide", "latency"), [(0, 2), (1, 0)]))
async def received_cells_appear_in_order_and_bad_ones_are_rejected(dut: Any, wide: int, latency: int) -> None:
    """Check that a wrong size, HEC or CRC-8 is counted and flagged, and the next cell takes its place."""
    bench = await circuits(dut, wide=wide, latency=latency)
    rounds = some(range(8))
    for _ in rounds:
        for _ in range(bench.rng.randrange(1, 5)):
            bench.arrive(*harm(bench, a_cell(bench)))
            bench.arrive(a_cell(bench).wire)
        await bench.quiet()
        assert await bench.read(Region.STATUS) >> Status.RECEIVE_LEVEL == len(bench.model.cells)
        await drain(bench)
    assert bench.model.dropped >= len(rounds)
    await bench.check()


@cocotb.test(timeout_time=40, timeout_unit="ms")
@cocotb.parametrize(stalls=[False, True])
async def random_traffic_both_ways_at_once(dut: Any, stalls: bool) -> None:
    """Check that every cell passes once, in order, intact; with `stalls` the link has gaps and STOP."""
    bench = await circuits(dut)
    rng = bench.rng
    for _ in some(range(70)):
        act = rng.choice(["send", "send", "arrive", "arrive", "take", "pause", "stop"])
        if act == "send" and await bench.read(Region.STATUS) >> Status.SEND_LEVEL & 0xFF < Size.OUT_CELLS:
            await bench.send_cell(a_cell(bench), combine=rng.random() < 0.5)
        elif act == "arrive":
            cell = a_cell(bench)
            bench.arrive(*(harm(bench, cell) if rng.random() < 0.1 else (cell.wire, True)))
        elif act == "take" and bench.model.cells:
            await bench.next_cell()
        elif act == "pause":
            await ClockCycles(dut.clk, rng.randrange(100))
        elif act == "stop" and stalls:
            bench.peer.stops = not bench.peer.stops
            bench.gaps(rng.choice([0, 0.5, 0.9]))
    bench.peer.stops = False
    await drain(bench)
    await bench.check()


@cocotb.test(timeout_time=8, timeout_unit="ms")
async def the_out_fifo_accepts_32_cells_and_rejects_more(dut: Any) -> None:
    """Fill the FIFO while the link is stopped: rejected cells are flagged and lost, accepted ones are sent later."""
    bench = await circuits(dut)
    bench.peer.stops = True
    while await bench.read(Region.STATUS) >> Status.SEND_LEVEL & 0xFF < Size.OUT_CELLS:
        await bench.send_cell(a_cell(bench))
    for _ in range(3):
        cell = a_cell(bench)
        bench.cpu.store(BASE + Region.CELL_OUT + Size.CELL_HEADER, cell.header.to_bytes(4, "big") + cell.payload)
    bench.model.errors.add(Error.OUT_FULL)
    assert await bench.read(Region.STATUS) >> Status.SEND_LEVEL & 0xFF == Size.OUT_CELLS
    bench.peer.stops = False
    await bench.check()


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def a_cell_begins_with_its_header(dut: Any) -> None:
    """Check that payload without a header is dropped, and that the second of two stored headers counts."""
    bench = await circuits(dut)
    bench.cpu.store(BASE + Region.CELL_OUT + Size.CELL_PAYLOAD, bench.rng.randbytes(48))
    bench.model.errors.add(Error.OUT_FULL)
    await bench.check()
    bench.cpu.store(BASE + Region.CELL_OUT + Size.CELL_HEADER, bench.rng.randbytes(12))
    await bench.send_cell(a_cell(bench))
    await bench.send_cell(a_cell(bench))
    await bench.check()
    await bench.write(Region.CELL_NEXT, 0)
    bench.model.next_cell()
    await bench.write(Region.TX_READY, 1)
    await bench.write(Region.RX_FREE, 1)
    bench.model.errors.add(Error.MODE)
    await bench.check()


@cocotb.test(timeout_time=16, timeout_unit="ms")
@sleeping_clocks()
async def cells_without_a_place_wait_in_the_link_with_idle_clocks(dut: Any) -> None:
    """Fill the FIFO with 256 cells: further ones wait, STOP holds the sender, and CELL_NEXT admits one."""
    bench = await circuits(dut)
    for _ in range(Size.IN_CELLS + 8):
        bench.arrive(a_cell(bench).wire)
    while not bench.peer.lanes[0].stopped or not int(dut.asleep.value):
        await bench.edge
    edges = [int(dut[name].value) for name in EDGES]
    await ClockCycles(dut.clk, 1000)
    assert [int(dut[name].value) for name in EDGES] == edges
    assert await bench.read(Region.STATUS) >> Status.RECEIVE_LEVEL == Size.IN_CELLS
    for _ in range(12):
        await bench.next_cell()
    await bench.quiet()
    assert await bench.read(Region.STATUS) >> Status.RECEIVE_LEVEL == Size.IN_CELLS - 4
    await bench.check()


@cocotb.test(timeout_time=8, timeout_unit="ms")
async def reset_under_load_leaves_a_card_as_new(dut: Any) -> None:
    """Reset during cells in both directions, one half stored: all is empty and usable afterwards, with cells again."""
    bench = await circuits(dut)
    for _ in some(range(2)):
        for _ in range(6):
            bench.arrive(a_cell(bench).wire)
            await bench.send_cell(a_cell(bench))
        bench.cpu.store(BASE + Region.CELL_OUT, bytes(20))
        await ClockCycles(dut.clk, bench.rng.randrange(100))
        await bench.start()
        assert await bench.read(Region.STATUS) == 1 << Status.IDLE | 1 << Status.CELLS
        bench.arrive(a_cell(bench).wire)
        await bench.send_cell(a_cell(bench))
        await bench.quiet()
        await drain(bench)
        await bench.check()


@cocotb.test(timeout_time=16, timeout_unit="ms")
@sleeping_clocks()
async def sleeping_clocks_change_no_time(dut: Any) -> None:
    """Send cells in both directions, with a stopped link: equal trace times, gated or not."""
    bench = FifoBench(dut, Form.CELLS)
    logs, ran, steps = [], [], some(range(4))
    for sleep in (0, 1):
        dut.sleep.value = sleep
        bench.rng.seed(5)
        await bench.start()
        await bench.connect(1, b"\x81")
        await bench.aligned()
        begun = bench.now
        bench.log.clear()
        for step in steps:
            bench.peer.stops = step == len(steps) // 2
            bench.arrive(a_cell(bench).wire)
            for _ in range(3):
                await bench.send_cell(a_cell(bench))
            await ClockCycles(dut.clk, 1200)
        bench.peer.stops = False
        await ClockCycles(dut.clk, 500)
        await drain(bench)
        logs.append([(time - begun, *rest) for time, *rest in bench.log])
        ran.append(sum(int(dut[name].value) for name in EDGES))
        await bench.check()
    assert logs[0] == logs[1] and len(logs[0]) > 15 * len(steps)
    assert ran[1] < ran[0] * 0.7
