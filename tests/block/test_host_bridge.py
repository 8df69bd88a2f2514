"""Host bridge: CPU to cards, cards to host memory, arbitration and interrupt, on a real bus with two cards.

Strategy: stores, combined stores, loads and fences in random order must leave the cards' memories equal to byte arrays
written in program order. DMA in both directions must leave host memory equal to its model. Buffer depths, drain rates
and latencies are small enough that their limits take effect, and those limits are measured. A protocol monitor watches
every clock of every test.
"""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import ClockCycles, RisingEdge

from pymodels.pci.pci import (
    MYRICOM_DEVICE,
    MYRICOM_VENDOR,
    Command,
    ConfigRegister,
    Termination,
    idsel_address,
)
from tb.agents.streams import sometimes
from tests.block.cases import cases, some
from tests.block.pci_host_bench import CARD, SIZE, HostBench, begin


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(depth=[1, 2, 16])
async def posted_writes_arrive_in_program_order(dut: Any, depth: int) -> None:
    bench = await begin(dut, cfg_post_depth=depth)
    bench.cards[0].stall(sometimes(0.5, bench.rng), sometimes(0.0, bench.rng))
    sent = []
    for value in range(1, 80):
        offset = bench.rng.randrange(0, SIZE, 4)
        sent.append((CARD[0] + offset, value))
        bench.cpu.store(CARD[0] + offset, value.to_bytes(4, "little"))
    await bench.quiet()
    arrived = [
        (a + (4 if be == 0xF0 else 0), d >> (32 if be == 0xF0 else 0)) for a, d, be in bench.cards[0].write_beats
    ]
    assert arrived == sent
    assert all(len(t.phases) == 1 for t in bench.by_cpu() if t.end is Termination.COMPLETION)


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(line=[8, 16, 32, 64])
async def a_full_combining_line_leaves_as_one_burst(dut: Any, line: int) -> None:
    bench = await begin(dut, cfg_wc_bytes=line)
    data = bench.rng.randbytes(256)
    bench.cpu.store(CARD[0] + 0x100, data, wc=True)
    await bench.quiet()
    assert bytes(bench.cards[0].bytes[0x100:0x200]) == data
    assert [(t.address, len(t.bytes_moved())) for t in bench.by_cpu()] == [
        (CARD[0] + 0x100 + at, line) for at in range(0, 256, line)
    ]


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(by=["fence", "load", "store"])
async def a_part_of_a_line_waits_until_something_flushes_it(dut: Any, by: str) -> None:
    bench = await begin(dut)
    bench.cpu.store(CARD[0] + 0x44, b"abcdefgh", wc=True)
    await ClockCycles(dut.clk, 50)
    assert not bench.monitor.transactions and not int(dut.idle_out.value) and not int(dut.busy.value)
    if by == "fence":
        bench.cpu.fence()
    elif by == "load":
        await bench.cpu.load(CARD[0] + 0x80, 4)
    else:
        bench.cpu.store(CARD[0] + 0x80, b"word")
    await bench.quiet()
    first = bench.by_cpu()[0]
    assert first.address & ~7 == CARD[0] + 0x40 and bytes(v for _, v in first.bytes_moved()) == b"abcdefgh"


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def a_gap_in_a_line_makes_two_transactions(dut: Any) -> None:
    bench = await begin(dut)
    bench.cpu.store(CARD[0] + 0x40, b"0123", wc=True)
    bench.cpu.store(CARD[0] + 0x50, b"89abcdef", wc=True)
    bench.cpu.store(CARD[0] + 0x40, b"ABCD", wc=True)
    bench.cpu.fence()
    await bench.quiet()
    assert [bytes(v for _, v in t.bytes_moved()) for t in bench.by_cpu()] == [b"ABCD", b"89abcdef"]


@cocotb.test(timeout_time=3, timeout_unit="ms")
@cases(wide=[0, 1], stalls=[False, True])
async def any_mix_of_accesses_reads_back_as_written(dut: Any, wide: int, stalls: bool) -> None:
    bench = await begin(dut, cfg_wide=wide, card_read_wait=3)
    rng, model = bench.rng, [bytearray(SIZE), bytearray(SIZE)]
    if stalls:
        for card in bench.cards:
            card.stall(sometimes(0.4, rng), sometimes(0.4, rng))
            card.latency = iter(lambda: rng.choice([1, 3, 20]), None)
        bench.cpu.source.gaps = sometimes(0.3, rng)
    for _ in range(200):
        k, offset, size = rng.randrange(2), rng.randrange(0, 256), rng.choice([1, 2, 4, 8])
        offset &= -size
        kind = rng.random()
        if kind < 0.25:
            got = await bench.cpu.load(CARD[k] + offset, size)
            assert got == model[k][offset : offset + size]
        elif kind < 0.3:
            bench.cpu.fence()
        else:
            data = rng.randbytes(size)
            model[k][offset : offset + size] = data
            bench.cpu.store(CARD[k] + offset, data, wc=kind < 0.8)
    bench.cpu.fence()
    await bench.quiet()
    assert [card.bytes for card in bench.cards] == model


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(depth=[1, 3, 16])
async def no_more_stores_are_posted_than_the_depth(dut: Any, depth: int) -> None:
    bench = await begin(dut, cfg_post_depth=depth)
    refuse = True

    def stalled() -> Any:
        while True:
            yield refuse

    bench.cards[0].stall(stalled(), sometimes(0.0, bench.rng))
    for word in range(40):
        bench.cpu.store(CARD[0] + 4 * word, bytes(4))
    await ClockCycles(dut.clk, 400)
    # The target core holds a few beats itself; besides them exactly `depth` transactions are outstanding.
    inside = len([t for t in bench.by_cpu() if t.end is Termination.COMPLETION])
    assert len(bench.cpu.taken) == inside + depth
    refuse = False
    await bench.quiet()


@cocotb.test(timeout_time=5, timeout_unit="ms")
@cases(wide=[0, 1], slow=[False, True])
async def dma_leaves_host_memory_as_the_model(dut: Any, wide: int, slow: bool) -> None:
    bench = await begin(dut, wide_cards=3 * wide, cfg_wide=wide)
    rng, model = bench.rng, bytearray(SIZE)
    if slow:
        bench.set(
            cfg_in_buffer=3,
            cfg_drain_num=2,
            cfg_drain_den=5,
            cfg_read_latency=30,
            cfg_up_read_wait=3,
            cfg_up_stall_limit=1,
        )
    reads = []
    for _ in some(range(60)):
        length = rng.choice([1, 4, 8, rng.randrange(1, 100), rng.randrange(1, 400)])
        address = rng.randrange(SIZE - length)
        if rng.random() < 0.5:
            data = rng.randbytes(length)
            model[address : address + length] = data
            bench.masters[0].write(address, data)
        else:
            reads.append((bench.masters[0].read(address, length), bytes(model[address : address + length])))
    await bench.quiet()
    assert bench.memory.bytes == model
    assert all(command.data == data for command, data in reads)
    ends = {t.end for t in bench.monitor.transactions}
    assert not slow or {Termination.RETRY, Termination.DISCONNECT} <= ends


@cocotb.test(timeout_time=2, timeout_unit="ms")
@cocotb.parametrize((("num", "den"), [(1, 1), (1, 4), (2, 3)]))
async def the_inbound_buffer_drains_at_its_rate(dut: Any, num: int, den: int) -> None:
    bench = await begin(dut, cfg_in_buffer=8, cfg_drain_num=num, cfg_drain_den=den, cfg_up_stall_limit=6)
    bench.masters[0].write(0, bench.rng.randbytes(8 * 400))
    start = bench.cpu.now
    await bench.quiet()
    clocks, ideal = bench.cpu.now - start, 400 * den / num
    assert ideal <= clocks + 2 and clocks < max(1.15 * ideal, ideal + 40), (
        f"{clocks} clocks for 400 beats at {num}/{den}"
    )


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def the_inbound_buffer_accepts_its_number_of_beats(dut: Any) -> None:
    taken = []
    bench = await begin(dut, cfg_drain_num=1, cfg_drain_den=200, cfg_up_stall_limit=1)
    for size in (2, 4, 12, 31):
        bench.set(cfg_in_buffer=size)
        before = len(bench.monitor.transactions)
        bench.masters[0].write(0, bytes(8 * 60))
        while len(bench.monitor.transactions) == before:
            await RisingEdge(dut.clk)
        taken.append(len(bench.monitor.transactions[before].phases) - size)
        bench.set(cfg_drain_den=1)
        await bench.quiet()
        bench.set(cfg_drain_den=200)
    # Besides the buffer, the target core holds a constant number of beats.
    assert len(set(taken)) == 1 and taken[0] <= 4, taken


@cocotb.test(timeout_time=2, timeout_unit="ms")
@cocotb.parametrize(latency=[1, 4])
async def a_dma_read_follows_the_writes_before_it(dut: Any, latency: int) -> None:
    bench = await begin(dut, cfg_drain_num=1, cfg_drain_den=16, cfg_read_latency=latency)
    data = bench.rng.randbytes(128)
    bench.masters[0].write(0x200, data)
    read = bench.masters[0].read(0x200, 128)
    await bench.quiet()
    assert read.data == data


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(latency=[2, 5, 9])
async def the_first_read_data_come_after_the_latency(dut: Any, latency: int) -> None:
    bench = await begin(dut, cfg_up_read_wait=12)
    for value in (1, latency):
        bench.set(cfg_read_latency=value)
        bench.masters[0].read(0x100, 8)
        await bench.quiet()
    quick, slow = bench.monitor.transactions
    assert slow.clocks - quick.clocks == latency - 1


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def any_card_raises_the_interrupt(dut: Any) -> None:
    bench = await begin(dut)
    for lines, level in ((0, 0), (1, 1), (3, 1), (2, 1), (0, 0)):
        bench.set(inta=lines)
        await RisingEdge(dut.clk)
        await RisingEdge(dut.clk)
        assert int(dut.intr.value) == level
        assert not int(dut.busy.value)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def an_unanswered_load_returns_ones(dut: Any) -> None:
    bench = await begin(dut)
    assert await bench.cpu.load(0xD0000000, 4) == b"\xff" * 4
    await bench.quiet()
    assert bench.monitor.transactions[-1].end is Termination.MASTER_ABORT


async def config_read(bench: HostBench, slot: int, register: int) -> int:
    return int.from_bytes(await bench.cpu.load(idsel_address(slot, register), 4, config=True), "little")


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(slot=[0, 1])
async def software_finds_sizes_and_moves_a_card(dut: Any, slot: int) -> None:
    bench = await begin(dut)
    bar = idsel_address(slot, ConfigRegister.BAR0)
    assert await config_read(bench, slot, ConfigRegister.IDENTITY) == MYRICOM_DEVICE << 16 | MYRICOM_VENDOR
    assert await config_read(bench, slot, ConfigRegister.BAR0) == CARD[slot]
    assert await config_read(bench, 2, ConfigRegister.IDENTITY) == 0xFFFFFFFF
    bench.cpu.store(bar, b"\xff" * 4, config=True)
    assert await config_read(bench, slot, ConfigRegister.BAR0) == 0xFF000000
    bench.cpu.store(0xFF000020, b"last")
    bench.cpu.store(bar, (0xC0000000).to_bytes(4, "little"), config=True)
    bench.cpu.store(idsel_address(slot, ConfigRegister.TIMERS) + 1, b"\x40", config=True)
    assert await config_read(bench, slot, ConfigRegister.TIMERS) == 0x4000
    bench.cpu.store(0xC0000010, b"here")
    await bench.quiet()
    assert [bytes(bench.cards[slot].bytes[at : at + 4]) for at in (0x10, 0x20)] == [b"here", b"last"]
    assert {Command.CONFIGURATION_READ, Command.CONFIGURATION_WRITE} <= {t.command for t in bench.monitor.transactions}
