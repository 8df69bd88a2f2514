"""A translation miss, and packets that arrive until the driver answers.

Strategy: a message is parked for its translation while packets arrive. Other streams bring addresses outside any memory
and replies without a buffer; its own stream brings further messages. Each must be completed, rejected or reported, and
the parked one exactly once too. Counters must show that the mixture occurred, and every receive buffer must be free at
the end. Where interrupts are faster than the bus, the driver is interrupted again before its answer has reached the NI;
it must answer each request once.
"""

from __future__ import annotations

from typing import Any

import pytest

from firmware.grim.host import Grim, GrimError
from firmware.grim.host.memory import REGIONS_VA
from firmware.grim.nic.layout import Counter
from pymodels.machine.timing import Timing
from tests.unit.grim.grim_bench import Bench

NOBODYS = 0x7000_0000
"""Address outside all regions; only the driver can decide that it is invalid."""
FREE = REGIONS_VA + (1 << 20)
"""Unallocated address in a contiguous region, which the NI translates by itself."""
ROUNDS = 12
US = 1_000_000


class SlowBus(Bench):
    """Machine on which a store takes longer than most interrupts."""

    timing = Timing(pio_latency=9 * US, interrupt_least=US // 10, interrupt_most=9 * US)


async def write_to_nobody(library: Grim, vnn: int, source: int) -> None:
    """Write to an unallocated address that the NI rejects by itself, and wait for the error."""
    await library.send_memory(vnn << 24, FREE, source, 64)
    with pytest.raises(GrimError, match="^address: 0x40100000 is not in pinned memory"):
        await library.wait_for(lambda: False)


@pytest.mark.parametrize("options", [{}, {"sequencing": "per-ni"}, {"timeout_us": 400}], ids=str)
def test_invalid_address_of_one_host_does_not_affect_a_parked_transfer_of_another(options: dict[str, Any]) -> None:
    bench = Bench(3, retry_delay_us=2, **options)
    far = bench.libraries[2]
    blocks: list[int] = []

    async def node(library: Grim, me: int) -> None:
        if me == 2:
            await library.malloc_pinned(4)
            blocks.extend([await library.pin_user_memory(4096) for _ in range(ROUNDS)])
            return
        source = await library.malloc_pinned(4096)
        library.store_pinned(source, b"\x5a" * 4096)
        while len(blocks) < ROUNDS:
            await library.host.sleep(1_000_000)
        for block in blocks:
            if me == 0:
                await library.send_memory(2 << 24, block, source, 4096)
            else:
                await write_to_nobody(library, 2, source)

    bench.run(node)
    bench.settle()
    assert bench.count(2, Counter.PARKED) >= bench.count(2, Counter.ERRORS_SENT) == ROUNDS
    assert all(far.load_pinned(block, 4096) == b"\x5a" * 4096 for block in blocks)
    assert bench.nothing_left()


@pytest.mark.parametrize("end", ["done", "reported"])
@pytest.mark.parametrize("sequencing", ["any-to-any", "per-ni"])
def test_messages_behind_a_parked_one_are_dropped_until_the_rejected_one_returns(sequencing: str, end: str) -> None:
    """However the parked message ends, no message is out of sequence on a network without losses."""
    bench = Bench(2, sequencing=sequencing, retry_delay_us=0)
    blocks: list[int] = []

    async def node(library: Grim, me: int) -> None:
        if me == 1:
            blocks.append(await library.malloc_pinned(4096))
            blocks.extend([await library.pin_user_memory(64) for _ in range(ROUNDS)])
            return
        source = await library.malloc_pinned(4096)
        while len(blocks) <= ROUNDS:
            await library.host.sleep(1_000_000)
        for block in blocks[1:]:
            await library.send_memory(1 << 24, block if end == "done" else NOBODYS, source, 64)
            for _ in range(4):
                await library.send_memory(1 << 24, blocks[0], source, 512)
            if end == "reported":
                with pytest.raises(GrimError, match="^address: 0x70000000 is not in pinned memory"):
                    await library.wait_for(lambda: False)
            await library.host.sleep(100_000_000)

    bench.run(node)
    bench.settle()
    assert bench.nothing_left()
    assert bench.total(Counter.NACKS_SENT) > ROUNDS and bench.total(Counter.DROPPED) > ROUNDS
    assert bench.total(Counter.OUT_OF_SEQUENCE) == 0


@pytest.mark.parametrize("seed", range(4))
def test_request_is_served_once_while_the_interrupt_line_is_still_high(seed: int) -> None:
    bench = SlowBus(2, seed, translation_runtime=1)
    blocks: list[int] = []

    async def node(library: Grim, me: int) -> None:
        if me == 1:
            blocks.extend([await library.pin_user_memory(64) for _ in range(ROUNDS)])
            return
        source, lock = await library.malloc_pinned(64), await library.malloc_pinned(4)
        while len(blocks) < ROUNDS:
            await library.host.sleep(US)
        for block in blocks:
            library.store_pinned(lock, b"wait")
            await library.fetch_memory(1 << 24, source, block, 64, lock=lock)
            await library.wait_for_lock(lock, 0)

    bench.run(node, within_us=5000)
    bench.settle()
    assert bench.nothing_left()
    assert bench.libraries[1].translations_served == bench.count(1, Counter.MISSES) == ROUNDS
