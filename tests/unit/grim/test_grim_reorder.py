"""GRIM on networks that reorder and duplicate packets, with the time-out extension.

Strategy: all-to-all traffic, remote memory operations and broadcasts run over wires that delay or duplicate packets by
seed, data and answers alike, with and without losses. Everything must arrive once, in order and unchanged, and all
queues must be empty. Then one packet of a chosen kind is overtaken by others, and the counters of the repair are
checked.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from firmware.grim.host import Grim
from firmware.grim.nic.layout import Counter
from tests.unit.grim.grim_bench import Bench
from tests.unit.grim.grim_traffic import AllToAll
from tests.unit.grim.test_grim_loss import LAST_ANSWERS_US, LOSSY, stop_and_start

US = 1_000_000


@pytest.mark.parametrize("sequencing", ["any-to-any", "per-ni"])
@pytest.mark.parametrize(("loss", "most_us"), [(0.0, 20), (0.0, 300), (0.05, 100)])
def test_everything_arrives_once_and_in_order_under_any_reordering(sequencing: str, loss: float, most_us: int) -> None:
    bench = Bench(3, 1, False, True, **{**LOSSY, "timeout_us": 60, "channels": 2, "sequencing": sequencing})
    stop_and_start(bench)
    bench.machine.faults.lose(loss, loss, most_us, reordered=0.1, doubled=0.1, most_ps=most_us * US)
    AllToAll(bench, 30, [0, 3, 64, 500, 1500], most_us).run(LAST_ANSWERS_US)
    counters = bench.machine.network.counters
    assert counters["reordered"] > 20 and counters["doubled"] > 20
    assert bench.total(Counter.OUT_OF_SEQUENCE) > 0 and bench.total(Counter.DUPLICATES) > 0


@pytest.mark.parametrize("seed", range(2))
def test_remote_memory_operations_are_executed_once_under_any_reordering(seed: int) -> None:
    bench = Bench(2, seed, False, True, timeout_us=100, translation_runtime=3, segment_bytes=600)
    near, far = bench.libraries
    rng = random.Random(seed)
    over: list[bool] = []

    async def node(library: Grim, me: int) -> None:
        while me == 1 and not over:
            await library.host.sleep(10 * US)
        if me == 1:
            return
        bench.machine.faults.lose(0.0, 0.0, seed, reordered=0.1, doubled=0.1, most_ps=60 * US)
        lock = await near.malloc_pinned(4)
        for i in range(1, 9):
            size = rng.choice([4, 300, 1500, 4000])
            data = rng.randbytes(size)
            here = await near.malloc_pinned(size)
            place = await (far.pin_user_memory(size + 8) if i % 3 else far.malloc_pinned(size + 8))
            near.store_pinned(here, data)
            near.store_pinned(lock, b"wait")
            await near.send_memory(1 << 24, place, here, size, lock=place + size + 3 & ~3, value=i)
            await near.fetch_memory(1 << 24, here, place, size, lock=lock)
            await near.wait_for_lock(lock, 0)
            assert far.load_pinned(place, size) == near.load_pinned(here, size) == data
        over.append(True)

    bench.run(node)
    bench.settle(5000)
    assert bench.nothing_left()
    assert bench.machine.network.counters["reordered"] > 5


def test_broadcasts_arrive_once_and_in_one_order_under_any_reordering() -> None:
    bench = Bench(4, 1, False, True, timeout_us=60)
    got: list[list[int]] = [[] for _ in range(4)]

    async def node(library: Grim, me: int) -> None:
        def on_data(source: int, number: int, a1: int, a2: int, a3: int, data: memoryview) -> None:
            got[me].append(number)

        number = (await bench.publish(library, data=on_data))["data"]
        bench.machine.faults.lose(0.0, 0.0, 1, reordered=0.1, doubled=0.1, most_ps=100 * US)
        for i in range(10 if me < 2 else 0):
            await library.broadcast(number, 100 * me + i)
        await library.wait_for(lambda: len(got[me]) == 20)

    bench.run(node)
    bench.settle(5000)
    assert got == [got[0]] * 4
    assert sorted(got[0]) == [*range(10), *range(100, 110)]
    assert bench.nothing_left()


class OnePassed:
    """Five messages from node 0 to node 1, with one packet of a path overtaken by those behind it."""

    def __init__(self, source: int, destination: int, number: int, by_us: int) -> None:
        self.bench = bench = Bench(2, 1, False, True, timeout_us=200)
        self.got: list[int] = []

        async def node(library: Grim, me: int) -> None:
            def on_data(source: int, number: int, a1: int, a2: int, a3: int, data: memoryview) -> None:
                self.got.append(number)

            handler = (await bench.publish(library, data=on_data))["data"]
            if me == 1:
                await library.wait_for(lambda: len(self.got) == 5)
                return
            await library.host.sleep(100 * US)
            faults = bench.machine.faults
            faults.reorder(source, destination, faults.passed(source, destination) + number, by_us * US)
            for i in range(5):
                await library.send(library.get_dest_id(1), handler, i)

        bench.run(node)
        bench.settle()
        assert self.got == [0, 1, 2, 3, 4]
        assert bench.nothing_left()

    def counts(self) -> dict[str, Any]:
        """Return the firmware's counters of the repair."""
        names = ("TIMEOUTS", "RESENT", "DUPLICATES", "OUT_OF_SEQUENCE", "STALE")
        return {name: self.bench.total(Counter[name]) for name in names}


def test_messages_ahead_of_their_turn_are_retransmitted_and_the_late_one_counts() -> None:
    counts = OnePassed(0, 1, 1, 15).counts()
    assert counts["OUT_OF_SEQUENCE"] > 0
    assert counts["TIMEOUTS"] == 1
    assert counts["RESENT"] == counts["OUT_OF_SEQUENCE"], "those that came too early, and no other"
    assert counts["DUPLICATES"] == 0


def test_acknowledgements_may_pass_each_other() -> None:
    assert OnePassed(1, 0, 1, 15).counts() == dict.fromkeys(
        ("TIMEOUTS", "RESENT", "DUPLICATES", "OUT_OF_SEQUENCE", "STALE"), 0
    )


def test_answer_after_the_answer_to_its_duplicate_has_no_effect() -> None:
    counts = OnePassed(1, 0, 0, 600).counts()
    assert counts["TIMEOUTS"] == counts["DUPLICATES"] == counts["STALE"] == 1
