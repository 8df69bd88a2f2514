"""Schedules of a small stream, all of them, and random ones of long streams: each byte once, in order, and nothing
kept.

Strategy: the links of `pipes_wires`, where a test chooses the next event. All schedules of a few packets are run, with
any order of arrival, and with one packet lost, duplicated or delayed past a time-out; they are counted. Then streams in
both directions, with random writes and reads, narrow windows and pipes, and many faults. A faulty receiver that ignores
positions must be found.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from firmware.pipes.host import Pipes
from firmware.pipes.host.header import Header
from firmware.pipes.host.incoming import Incoming
from tests.unit.pipes.pipes_bench import pattern
from tests.unit.pipes.pipes_wires import Play

SEEDS = (*range(30), 52, 806)
"""Seeds of random schedules; the last two once left both ends waiting without a time-out."""


def schedules() -> Iterator[list[tuple[int, int]]]:
    """Yield each sequence of choices as a list of (choice, number of choices).

    The code that runs a schedule appends its further choices to the list.
    """
    taken: list[tuple[int, int]] = []
    while True:
        yield taken
        while taken and taken[-1][0] == taken[-1][1] - 1:
            taken.pop()
        if not taken:
            return
        choice, count = taken.pop()
        taken.append((choice + 1, count))


async def give(pipe: Pipes, target: int, parts: list[bytes], direct: bool) -> None:
    """Write all parts."""
    for part in parts:
        await pipe.write(target, part, direct)
    await pipe.finish()


async def have(pipe: Pipes, source: int, sizes: list[int]) -> bytes:
    """Read parts of the given sizes."""
    data = b"".join([await pipe.read(source, size) for size in sizes])
    await pipe.finish()
    return data


def play_all(packets: int, faults: int, direct: bool) -> int:
    """Run all schedules of a number of packets and return their count."""
    count, parts = 0, [pattern(3, salt) for salt in range(packets)]
    for taken in schedules():
        steps, count = iter(list(taken)), count + 1

        def choose(of: int, steps: Any = steps, taken: Any = taken) -> int:
            known = next(steps, None)
            if known is None:
                taken.append((0, of))
                return 0
            return int(known[0])

        play = Play(choose, faults)
        read = play.run(give(play.pipes[0], 1, parts, direct), have(play.pipes[1], 0, [3 * packets]))[1]
        assert read == b"".join(parts), taken
        assert not play.wires.hals[0].kept, "everything is acknowledged"
    return count


@pytest.mark.parametrize("direct", [False, True])
@pytest.mark.parametrize(("packets", "faults", "schedules"), [(3, 0, 100), (2, 1, 1827)])
def test_every_schedule_of_a_small_stream_delivers_it_completely(
    packets: int, faults: int, schedules: int, direct: bool
) -> None:
    assert play_all(packets, faults, direct) == schedules


def test_a_receiver_that_ignores_positions_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    real = Incoming.arrived

    async def careless(self: Incoming, header: Header, *others: Any) -> bool:
        return await real(self, header._replace(position=self.come), *others)

    monkeypatch.setattr(Incoming, "arrived", careless)
    with pytest.raises(AssertionError):
        play_all(2, 0, False)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_schedules_with_many_faults_deliver_both_streams_completely(seed: int) -> None:
    draw = random.Random(seed)
    options = {"window": draw.choice([2, 3, 8, 32]), "pipe_bytes": draw.choice([2048, 4096, 65536])}
    play = Play(draw.randrange, draw.choice([0, 20, 100]), **options)
    calls, streams = [], []
    for me in range(2):
        parts = [pattern(draw.choice([1, 20, 1008, 1009, 3000]), salt) for salt in range(draw.randrange(1, 12))]
        data = b"".join(parts)
        reads = [min(700, len(data) - at) for at in range(0, len(data), 700)]
        calls += [give(play.pipes[me], 1 - me, parts, draw.random() < 0.5), have(play.pipes[1 - me], me, reads)]
        streams.append(data)
    assert play.run(*calls)[1::2] == streams
    assert not play.wires.hals[0].kept and not play.wires.hals[1].kept
