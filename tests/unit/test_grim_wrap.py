"""Counters wrap at their own width. Strategy: enough messages that each counter and each ring goes round at least
four times while messages are refused and rolled back; how often each went round is computed from what was sent, not
hoped for. Windows from 1 to 127 are kept, which the reference model checks with unbounded counters.
"""

from __future__ import annotations

from typing import Any

import pytest

from firmware.host.grim import Grim
from firmware.nic.grim.layout import Counter, Register
from pymodels.formats import grim
from tests.unit.grim_bench import Bench
from tests.unit.grim_tap import Tap

MESSAGES = 1100


def one_way(bench: Bench, count: int, size: int) -> list[int]:
    """Node 0 sends `count` messages to node 1, which stops now and then; what node 1 got, in its order."""
    got: list[int] = []

    async def node(library: Grim, me: int) -> None:
        def handler(source: int, number: int, a1: int, a2: int, a3: int, data: memoryview) -> None:
            got.append(number)
            assert len(data) == size

        number = (await bench.publish(library, handler=handler))["handler"]
        if me == 0:
            for i in range(count):
                await library.send(library.get_dest_id(1), number, i, payload=bytes(size))
        else:
            await library.wait_for(lambda: len(got) == count)

    for i in range(5):
        bench.machine.host(1).pause_between(100 + 400 * i, 300 + 400 * i)
    bench.run(node)
    bench.settle()
    return got


@pytest.mark.parametrize("window", [1, 20, 127])
@pytest.mark.parametrize("sequencing", ["any-to-any", "per-ni"])
def test_sequence_and_token_go_round_four_times(sequencing: str, window: int) -> None:
    sizes: dict[str, Any] = {"host_queue_bytes": 2048, "segment_bytes": 64, "queue_bytes": 1 << 16}
    bench = Bench(2, 1, trace=True, sequencing=sequencing, window=window, **sizes)
    tap = Tap(bench)
    assert one_way(bench, MESSAGES, 8) == list(range(MESSAGES))
    tap.replay()
    assert bench.count(0, Counter.SENT) // (grim.COUNTER_MASK + 1) >= 4
    assert MESSAGES // grim.TOKENS >= 4
    assert bench.count(1, Counter.NACKS_SENT) > 0
    assert tap.streams[0, 0, 1, 0].window == window


@pytest.mark.parametrize("size", [0, 4, 60, 64])
def test_queues_of_ni_and_host_go_round_four_times(size: int) -> None:
    bench = Bench(2, 2, host_queue_bytes=1200, segment_bytes=64, queue_bytes=1400)
    assert one_way(bench, 300, size) == list(range(300))
    layout = bench.libraries[0].layout
    assert 300 * (40 + grim.padded(size // 4)) // layout.limit >= 4
    assert 300 * (32 + grim.padded(size // 4)) // layout.host_limit >= 4
    nic = bench.machine.nic(0)
    assert nic.load(layout.register(0, Register.FRONT)) == nic.load(layout.register(0, Register.BACK)) < layout.limit


def test_rings_of_control_blocks_and_answers_go_round_four_times() -> None:
    bench = Bench(2, 3, segment_bytes=64, cut_through_bytes=0, reply_bytes=0, multicast_trees=0)
    count = 2200
    assert one_way(bench, count, 4) == list(range(count))
    layout = bench.libraries[1].layout
    assert 2 * count // layout.blocks_count >= 4
    assert count // layout.control_entries >= 4


def test_fits_never_fills_a_queue_to_the_brim() -> None:
    """The two rules of the ring, against a ring that is really kept."""
    from firmware.nic.grim.layout import fits, following

    limit, room = 96, 32
    for step in range(8, room + 1, 8):
        held: list[tuple[int, int]] = []
        back = 0
        for turn in range(1000):
            if fits(held[0][0] if held else back, back, step, limit) and turn % 7:
                assert all(back + step <= at or at + size <= back for at, size in held)
                held.append((back, step))
                back = following(back, step, limit)
                assert back != held[0][0]
            elif held:
                held.pop(0)
