"""Costs of single PIO accesses on PCI 32/33, as settings of bridge and card.

Strategy: a CPU with no other activity stores or loads word after word; the clocks per word are counted at the bridge's
CPU port. One set of settings for each published value of readings A1 must give that value on the RTL and on the timing
model of pymodels/pci/pci.py. The last test compares RTL and model for random settings.
"""

from __future__ import annotations

from typing import Any

import cocotb

from pymodels.pci.pci import TargetTiming, read_clocks, write_clocks_per_word
from tests.block.pci_host_bench import CARD, HostBench, begin

BUS = {"cfg_wide": 0, "wide_cards": 0, "cfg_post_depth": 1}
"""Settings of a 32-bit bus with one posted store, so that five words take five times one word."""

WRITES = {
    "SP-NT 0.33 us": (11.0, {"card_write_initial": 6}),
    "Myrinet-Linux 0.16 us, whole clocks": (5.0, {}),
    "Myrinet-Linux 0.16 us": (16 / 3, {"cfg_extra_num": 1, "cfg_extra_den": 3}),
}
READS = {
    "SP-NT 0.87 us": (
        29.0,
        {"card_read_initial": 10, "card_read_wait": 12, "cfg_start_delay": 2, "cfg_read_return": 11},
    ),
    "Myrinet-Linux 0.49 us, whole clocks": (16.0, {"card_read_initial": 7, "card_read_wait": 12, "cfg_read_return": 3}),
    "Myrinet-Linux 0.49 us": (
        49 / 3,
        {"card_read_initial": 7, "card_read_wait": 12, "cfg_read_return": 3, "cfg_extra_num": 1, "cfg_extra_den": 3},
    ),
}


async def write_cost(bench: HostBench, words: int = 60, skip: int = 24) -> float:
    """Return the clocks per word of a stream of uncached stores, once the posted-write queue is full."""
    first = len(bench.cpu.taken) + skip
    for word in range(skip + words + 1):
        bench.cpu.store(CARD[0] + 4 * (word % 64), word.to_bytes(4, "little"))
    await bench.quiet()
    taken = bench.cpu.taken[first:]
    return (taken[-1] - taken[0]) / words


async def read_cost(bench: HostBench, words: int = 30) -> float:
    """Return the clocks per word of successive loads, each from the clock of its offer to the edge with its data.

    A CPU that offers the next access with the answer to the previous one has this as its period.
    """
    cpu = bench.cpu
    taken, answered = len(cpu.taken), len(cpu.answered)
    for word in range(words):
        await cpu.load(CARD[0] + 4 * (word % 64), 4)
    return sum(b - a + 1 for a, b in zip(cpu.taken[taken:], cpu.answered[answered:], strict=True)) / words


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(figure=list(WRITES))
async def a_stream_of_stores_costs_the_published_value(dut: Any, figure: str) -> None:
    clocks, settings = WRITES[figure]
    bench = await begin(dut, **{**BUS, **settings})
    cost = await write_cost(bench)
    cocotb.log.info("PIO write, %s: %.2f clocks = %.3f us with %s", figure, cost, cost * 0.03, {**BUS, **settings})
    assert abs(cost - clocks) < 0.02


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def five_stores_cost_five_times_one(dut: Any) -> None:
    bench = await begin(dut, **{**BUS, "card_write_initial": 6})
    for word in range(6):
        bench.cpu.store(CARD[0] + 4 * word, bytes(4))
    await bench.quiet()
    assert bench.cpu.taken[5] - bench.cpu.taken[0] == 55


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(figure=list(READS))
async def loads_cost_the_published_value(dut: Any, figure: str) -> None:
    clocks, settings = READS[figure]
    bench = await begin(dut, **{**BUS, **settings})
    cost = await read_cost(bench)
    cocotb.log.info("PIO read, %s: %.2f clocks = %.3f us with %s", figure, cost, cost * 0.03, {**BUS, **settings})
    assert abs(cost - clocks) < 0.02


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def the_timing_model_agrees_for_any_settings(dut: Any) -> None:
    bench = await begin(dut, **BUS)
    rng = bench.rng
    for _ in range(12):
        depth, start, devsel = rng.choice([1, 2, 8]), rng.randrange(4), rng.randrange(1, 3)
        initial, back = rng.randrange(10), rng.randrange(8)
        bench.set(cfg_post_depth=depth, cfg_start_delay=start, card_devsel=devsel, card_write_initial=initial)
        bench.set(card_read_initial=initial, card_read_wait=11, cfg_read_return=back)
        target = TargetTiming(devsel, initial)
        assert await write_cost(bench, 24) == write_clocks_per_word(target, depth, start)
        # This bench's memory answers three clocks after DEVSEL#; the offer takes one more clock.
        assert await read_cost(bench, 5) == read_clocks(target, 3, start, back) + 1
        await bench.quiet()
