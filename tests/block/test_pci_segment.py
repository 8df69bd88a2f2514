"""PCI segment with CPU, memory and two cards that all master the bus at once.

Strategy: CPU stores and loads, DMA of both cards to host memory and from card to card run concurrently in disjoint
regions; at the end every memory must equal its model. Widths are mixed. The protocol monitor sees every transaction of
every master and fails the test on a wrong handover, a driver conflict or a parity error.
"""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import RisingEdge

from pymodels.pci.pci import Termination
from tb.agents.streams import sometimes
from tests.block.pci_host_bench import CARD, SIZE, HostBench, begin

REGION = SIZE // 4


class Models:
    """Expected content of the three memories; each actor has a quarter of each."""

    def __init__(self) -> None:
        self.host = bytearray(SIZE)
        self.card = [bytearray(SIZE), bytearray(SIZE)]


async def cpu_actor(bench: HostBench, models: Models, count: int) -> None:
    rng = bench.rng
    for _ in range(count):
        k, size = rng.randrange(2), rng.choice([1, 2, 4, 8])
        offset = rng.randrange(0, REGION, 8)
        if rng.random() < 0.3:
            assert await bench.cpu.load(CARD[k] + offset, size) == models.card[k][offset : offset + size]
        else:
            data = rng.randbytes(size)
            models.card[k][offset : offset + size] = data
            bench.cpu.store(CARD[k] + offset, data, wc=rng.random() < 0.5)
    bench.cpu.fence()


def card_commands(bench: HostBench, models: Models, k: int, count: int) -> list[tuple[Any, bytes]]:
    """Queue random DMA of card k to host memory and to the other card; return its reads with the expected data."""
    rng, reads = bench.rng, []
    for _ in range(count):
        length = rng.choice([4, 8, rng.randrange(1, 64), rng.randrange(1, 300)])
        offset = (k + 1) * REGION + rng.randrange(REGION - length)
        peer = rng.random() < 0.4
        memory, base = (models.card[1 - k], CARD[1 - k]) if peer else (models.host, 0)
        if rng.random() < 0.5:
            data = rng.randbytes(length)
            memory[offset : offset + length] = data
            bench.masters[k].write(base + offset, data)
        else:
            reads.append((bench.masters[k].read(base + offset, length), bytes(memory[offset : offset + length])))
    return reads


@cocotb.test(timeout_time=5, timeout_unit="ms")
@cocotb.parametrize((("host", "cards"), [(1, 3), (0, 0), (1, 2)]), ("stalls", [False, True]))
async def all_masters_at_once_leave_every_memory_as_its_model(dut: Any, host: int, cards: int, stalls: bool) -> None:
    bench = await begin(
        dut, cfg_wide=host, wide_cards=cards, cfg_latency_timer=16, card_latency_timer=24, card_read_wait=4
    )
    rng, models = bench.rng, Models()
    if stalls:
        bench.set(
            cfg_in_buffer=4,
            cfg_drain_num=1,
            cfg_drain_den=3,
            cfg_read_latency=20,
            cfg_up_read_wait=2,
            card_max_phases=5,
        )
        for card, master in zip(bench.cards, bench.masters, strict=True):
            card.stall(sometimes(0.3, rng), sometimes(0.3, rng))
            card.latency = iter(lambda: rng.choice([1, 4, 12]), None)
            master.pace(sometimes(0.2, rng), sometimes(0.2, rng), sometimes(0.2, rng))
    reads = [*card_commands(bench, models, 0, 25), *card_commands(bench, models, 1, 25)]
    await cpu_actor(bench, models, 40)
    await bench.quiet()
    assert bench.memory.bytes == models.host
    assert [card.bytes for card in bench.cards] == models.card
    assert all(command.data == data and not command.error for command, data in reads)
    assert {t.master for t in bench.monitor.transactions} == {0, 1, 2}


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def two_cards_share_the_bus_equally(dut: Any) -> None:
    bench = await begin(dut, card_latency_timer=16, card_max_burst=256)
    for k in (0, 1):
        bench.masters[k].write(0x1000 * k, bytes(16384 - 8))
    while len(bench.monitor.transactions) < 30:
        await RisingEdge(dut.clk)
    moved = [sum(len(t.phases) for t in bench.monitor.transactions if t.master == k + 1) for k in (0, 1)]
    assert abs(moved[0] - moved[1]) <= 40, moved


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def a_load_gets_through_while_cards_stream(dut: Any) -> None:
    bench = await begin(dut, card_latency_timer=32)
    for k in (0, 1):
        bench.masters[k].write(0, bytes(20000))
    for _ in range(200):
        await RisingEdge(dut.clk)
    start = bench.cpu.now
    await bench.cpu.load(CARD[0] + 8, 4)
    # The bridge's turn comes after at most one burst of each card, each cut by the latency timer.
    assert bench.cpu.now - start < 150, f"{bench.cpu.now - start} clocks"
    await bench.quiet()


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def counters_measure_the_utilisation_of_the_bus(dut: Any) -> None:
    bench = await begin(dut)
    bench.masters[0].write(0, bytes(800))
    await bench.quiet()
    (burst,) = bench.monitor.transactions
    assert burst.end is Termination.COMPLETION and burst.wide
    assert int(dut.count_data.value) == len(burst.phases) == 100
    assert int(dut.count_busy.value) == burst.clocks
