"""Round trips and streams of the measurement kit find the times of hosts whose times are known.

Strategy: made-up hosts take constant times for a send, the wire and a receive. Durations, rates and the number of
messages are compared to the picosecond; a message that is changed on its way must fail the run.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

import pytest

from tb.studies.kit.cpu import CpuTime
from tb.studies.kit.mail import ping_pong
from tb.studies.kit.payload import numbered, pattern
from tb.studies.kit.rounds import PHASES_PS, Trips, phases, round_trips
from tb.studies.kit.stream import Stream, stream
from tests.unit.studies.made_up_mail import ONE_WAY_PS, RECEIVE_PS, SEND_PS, START_PS, MadeUpLab, MadeUpMail, pair


def test_every_round_trip_takes_two_messages_of_known_time() -> None:
    lab = MadeUpLab()
    trips: Trips = lab.finish(ping_pong(lab, *pair(lab), 16, 3))
    assert trips.took == [2 * ONE_WAY_PS] * 3
    assert trips.begun == [START_PS + number * 2 * ONE_WAY_PS for number in range(3)]
    assert trips.whole == 6 * ONE_WAY_PS
    assert trips.us == [16.0] * 3 and trips.one_way_us == [8.0] * 3 and trips.mean_one_way_us == 8.0
    assert lab.findings.messages == 6 and not lab.findings.failures


def test_a_changed_answer_fails_the_run() -> None:
    lab = MadeUpLab()
    near, far = pair(lab)
    assert isinstance(far.mail, MadeUpMail)
    far.mail.changed = True
    lab.finish(ping_pong(lab, near, far, 16, 1))
    assert lab.findings.failures == ["bytes of mail: 16 bytes returned corrupted"]


def test_pauses_count_neither_as_trips_nor_in_their_times() -> None:
    lab = MadeUpLab()
    trips: Trips = lab.finish(ping_pong(lab, *pair(lab), 4, 2, lambda: 7_000_000))
    assert trips.took == [2 * ONE_WAY_PS] * 2
    assert trips.begun == [START_PS + 7_000_000, START_PS + 14_000_000 + 2 * ONE_WAY_PS]
    assert trips.whole == 2 * (7_000_000 + 2 * ONE_WAY_PS)


@pytest.mark.parametrize("answer_first", [True, False])
def test_the_far_end_begins_before_or_after_the_pause(answer_first: bool) -> None:
    lab, began = MadeUpLab(), list[int]()

    async def ask(number: int) -> None:
        await lab.kernel.sleep(10)

    async def answer() -> None:
        began.append(lab.kernel.now)

    lab.finish(round_trips(lab, 1, ask, answer, pause=lambda: 100, answer_first=answer_first))
    assert began == [START_PS if answer_first else START_PS + 100]


def test_the_whole_time_includes_what_the_far_end_does_after_its_answer() -> None:
    lab = MadeUpLab()

    async def ask(number: int) -> None:
        await lab.kernel.sleep(10)

    async def answer() -> str:
        await lab.kernel.sleep(30)
        return "done"

    trips: Trips = lab.finish(round_trips(lab, 2, ask, answer))
    assert (trips.took, trips.whole, trips.answers) == ([10, 10], 60, ["done", "done"])


def test_a_lost_trip_has_no_duration_but_counts_as_messages() -> None:
    lab = MadeUpLab()

    async def ask(number: int) -> bool:
        await lab.kernel.sleep(10)
        return number != 1

    trips: Trips = lab.finish(round_trips(lab, 3, ask, messages=1))
    assert (trips.took, len(trips.begun), lab.findings.messages) == ([10, 10], 3, 3)


def test_what_the_near_end_does_after_a_trip_is_not_part_of_it() -> None:
    lab, settled = MadeUpLab(), list[int]()

    async def ask(number: int) -> None:
        await lab.kernel.sleep(10)

    async def settle(number: int) -> None:
        await lab.kernel.sleep(100)
        settled.append(number)

    trips: Trips = lab.finish(round_trips(lab, 2, ask, settle=settle))
    assert (trips.took, trips.whole, settled) == ([10, 10], 220, [0, 1])


def test_phases_follow_from_the_seed_and_stay_below_the_longest() -> None:
    draw, again, other = phases("a"), phases("a"), phases("b")
    drawn = [draw() for _ in range(50)]
    assert drawn == [again() for _ in range(50)] != [other() for _ in range(50)]
    assert 0 <= min(drawn) < max(drawn) < PHASES_PS
    assert {phases("c", 1)() for _ in range(5)} == {0}


def test_a_stream_runs_at_the_pace_of_its_slower_end() -> None:
    lab = MadeUpLab()
    near, far = pair(lab)

    async def give() -> None:
        for number in range(4):
            await near.mail.send(1, numbered(100, number))

    used = CpuTime(far.mail.host)
    found: Stream[Any] = lab.finish(stream(lab, give(), far.mail.receive, 4))
    assert found.came == [(0, numbered(100, number)) for number in range(4)]
    assert found.times == [START_PS + ONE_WAY_PS + number * SEND_PS for number in range(4)]
    assert found.took == ONE_WAY_PS + 3 * SEND_PS
    assert found.rate(100) == pytest.approx(400 / 14)
    assert found.steady_rate(100) == pytest.approx(100 / 2)
    assert lab.findings.messages == 4
    assert used.used == 4 * RECEIVE_PS and used.percent(found.took) == pytest.approx(100 * 4 / 14)


def test_a_stream_ends_when_its_sender_has_ended() -> None:
    lab = MadeUpLab()

    async def give() -> None:
        await lab.kernel.sleep(500)

    async def take() -> None:
        await lab.kernel.sleep(10)

    def study() -> Coroutine[Any, Any, int]:
        async def run() -> int:
            assert (await stream(lab, give(), take, 2)).took == 20
            return lab.kernel.now

        return run()

    assert lab.finish(study()) == START_PS + 500


def test_payloads_tell_sizes_and_numbers_apart() -> None:
    assert pattern(4) == bytes([4, 11, 18, 25]) and len(pattern(300)) == 300 and not pattern(0)
    assert pattern(4) != pattern(5)[:4]
    assert numbered(3, 254) == bytes([254, 255, 0]) and numbered(3, 1) != numbered(3, 2)
