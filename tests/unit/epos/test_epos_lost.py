"""EPOS on networks that lose frames: a message is lost as a whole, never mixed, too long or out of its slot.

Strategy: messages of three frames lose single frames, random frames or all second frames. Each option that moves frames
to the host another way is tried. Each message arrives complete or not at all, and counters give the reason. Senders
whose library does not check sizes send more frames than a staging slot holds.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest

from firmware.epos.nic.words import Word
from tests.unit.epos.epos_bench import Bench
from tests.unit.epos.test_epos import LATE_PS, drawn

FRAMED: dict[str, Any] = {"mtu": 512, "slot_bytes": 2048}
"""Size of messages of three frames."""
CHOICES: list[dict[str, Any]] = [{}, {"notify": "word"}, {"rx_fifo": "host"}, {"pio_limit": 0, "slots": 1}]


def lossy(
    lost: Sequence[int], sizes: Sequence[int], want: int, **options: Any
) -> tuple[Bench, list[bytes], list[bytes]]:
    """Send messages of given sizes and lose some of their frames, by number over all; return sent and received
    messages.
    """
    bench, sent = Bench(**FRAMED, **options), drawn(10, sizes)
    for number in lost:
        bench.machine.faults.drop(0, 1, number)
    _, got = bench.run(bench.give(0, 1, sent), bench.take(1, want))
    return bench, sent, [message.data for message in got]


@pytest.mark.parametrize("lost", range(3), ids=["first", "middle", "last"])
def test_message_with_a_lost_frame_is_dropped_and_the_next_one_is_complete(lost: int) -> None:
    bench, sent, got = lossy([3 + lost], [1500] * 4, 3)
    assert got == [sent[0], *sent[2:]]
    assert bench.word(1, Word.STRAY) == (2, 1, 0)[lost]
    assert bench.hosts[1].incoming.incomplete == (0, 1, 1)[lost]


def test_last_frame_of_another_message_does_not_complete_a_message() -> None:
    """Lose the last frame of the first message and the first two of the second."""
    bench, sent, got = lossy([2, 3, 4], [1500] * 3, 1)
    assert got == [sent[2]]
    assert bench.word(1, Word.STRAY) == 1


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("options", CHOICES, ids=str)
def test_messages_arrive_complete_and_in_order_or_not_at_all_under_loss(seed: int, options: dict[str, Any]) -> None:
    rng = random.Random(seed)
    sizes = [rng.choice((0, 64, 512, 700, 1500, 2048)) for _ in range(60)]
    frames = [index for index, size in enumerate(sizes) for _ in range(max(1, -(-size // 512)))]
    lost = [number for number in range(len(frames)) if rng.random() < 0.15]
    harmed = {frames[number] for number in lost}
    _, sent, got = lossy(lost, sizes, 60 - len(harmed), **options)
    assert got == [data for index, data in enumerate(sent) if index not in harmed]


def test_entries_of_messages_that_stay_incomplete_do_not_outgrow_the_queue_of_a_late_host() -> None:
    """Lose the second frames of forty messages before the host polls for the first time."""
    bench, sent = Bench(mtu=64, slot_bytes=128, slots=1), drawn(11, [128] * 40 + [64] * 3)
    for number in range(1, 80, 2):
        bench.machine.faults.drop(0, 1, number)

    async def late() -> list[Any]:
        await bench.hosts[1].host.sleep(LATE_PS, "other work")
        return await bench.take(1, 3)

    _, got = bench.run(bench.give(0, 1, sent), late())
    assert [message.data for message in got] == sent[-3:]
    assert bench.hosts[1].incoming.incomplete == 40


@pytest.mark.parametrize("more", [1, 2])
def test_frames_beyond_a_staging_slot_are_dropped_and_never_reach_the_one_behind(more: int) -> None:
    bench = Bench(**FRAMED)
    near, host = bench.hosts[0], bench.machine.host(1)
    behind = bench.hosts[1]._memory.address + bench.hosts[1].place.staging(0, 1)
    guard = bytes(range(1, 65))
    host.store_bytes(behind, guard)

    async def sends() -> None:
        await near.outgoing.message((1,), bytes(2048 + 512 * more), 0)
        await near.send(1, b"after")

    _, got = bench.run(sends(), bench.take(1, 1))
    assert got[0].data == b"after" and bench.word(1, Word.STRAY) == more
    assert host.load_bytes(behind, 64) == b"after" + guard[5:]
