"""Card on a separate bus behind a PCI-to-PCI bridge, with a host and a card on the near bus.

Strategy: CPU, both cards and host memory repeat the traffic of one bus (test_pci_segment) across the bridge, with
different clocks and widths. Every memory must equal its model, under a protocol monitor on each bus. A producer and a
consumer test the ordering rules of PCI. The far bus must have the speed of its own clock, and a burst to an unmapped
address must be reported.
"""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import ClockCycles, RisingEdge
from cocotb.utils import get_sim_time

from tb.agents.streams import sometimes
from tests.block.pci_host_bench import CARD, begin
from tests.block.test_pci_segment import Models, card_commands, cpu_actor


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cocotb.parametrize(
    (
        ("far_ns", "host", "cards", "stalls"),
        [(30, 1, 1, False), (30, 0, 2, True), (7, 1, 1, True), (7, 0, 2, False)],  # each pair of values once
    )
)
async def all_masters_at_once_leave_every_memory_as_its_model(
    dut: Any, far_ns: int, host: int, cards: int, stalls: bool
) -> None:
    bench = await begin(dut, far_ns, cfg_wide=host, wide_cards=cards, cfg_latency_timer=16, card_latency_timer=24)
    rng, models = bench.rng, Models()
    if stalls:
        bench.set(cfg_in_buffer=4, cfg_drain_den=3, cfg_read_latency=20, cfg_up_read_wait=2, card_max_phases=5)
        for card, master in zip(bench.cards, bench.masters, strict=True):
            card.stall(sometimes(0.3, rng), sometimes(0.3, rng))
            master.pace(sometimes(0.2, rng), sometimes(0.2, rng), sometimes(0.2, rng))
    reads = [*card_commands(bench, models, 0, 25), *card_commands(bench, models, 1, 25)]
    await cpu_actor(bench, models, 40)
    await bench.quiet(60000)
    assert bench.memory.bytes == models.host
    assert [card.bytes for card in bench.cards] == models.card
    assert all(command.data == data and not command.error for command, data in reads)
    assert {t.master for t in bench.monitor.transactions} == {0, 1, 2}, "CPU, the near card, the bridge"
    assert {t.master for t in bench.far.transactions} == {0, 1}, "the bridge, the far card"
    assert not int(dut.lost.value)


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def a_read_completes_after_the_writes_posted_before_it(dut: Any) -> None:
    bench = await begin(dut, 7, card_start_delay=100)  # the bridge's bursts take longest on the near bus
    for number in range(1, 9):
        data = bytes([number]) * 1000
        command = bench.masters[1].write(0x400, data)
        while not command.done:
            await RisingEdge(dut.far_clk)
        bench.cards[1].bytes[8] = number  # the producer: data first, then the flag
        while (await bench.cpu.load(CARD[1] + 8, 4))[0] != number:
            pass
        assert bench.memory.bytes[0x400 : 0x400 + len(data)] == data, "the flag overtook the data"


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def a_slow_bus_behind_the_bridge_has_its_own_speed_and_leaves_the_near_one_free(dut: Any) -> None:
    bench = await begin(dut, 30, wide_cards=1)
    size = 8192
    bench.masters[0].write(CARD[1], bytes(range(256)) * (size // 256))
    begin_ns = get_sim_time("ns")
    for _ in range(20):
        start = bench.cpu.now
        await bench.cpu.load(CARD[0] + 8, 4)
        assert bench.cpu.now - start < 150, "a card of the near bus is kept waiting"
    await bench.quiet()
    took = float(get_sim_time("ns")) - float(begin_ns)
    limit = size / 4 * 30
    assert limit <= took <= limit / 0.85, f"{took} ns for what a 32-bit bus of 30 ns moves in {limit}"
    assert bench.cards[1].bytes[:size] == bytes(range(256)) * (size // 256)


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def a_burst_to_an_unmapped_address_is_reported(dut: Any) -> None:
    bench = await begin(dut, 30)
    bench.masters[0].write(CARD[1] + 0x1000000, bytes(64))
    await bench.quiet()
    await ClockCycles(dut.clk, 200)
    assert int(dut.lost.value)
