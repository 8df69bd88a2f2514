"""Time of a board: clocks without a common root are brought to that of the NIC's clock."""

from __future__ import annotations

import random

import pytest

from pymodels.board.map import Clock
from tb.board.timebase import KEPT, Timebase

PERIODS = {Clock.BUS: 40_000, Clock.NIC: 30_000, Clock.LINK: 6_250}


def sampled(count: int, drift: float = 0.0, late: int = 3) -> Timebase:
    """Return a time base with samples of every millisecond, of a link clock that drifts and is latched late."""
    base, draw = Timebase(PERIODS), random.Random(1)
    for number in range(count):
        ps = 10**9 * number
        link = int(ps / (6_250 * (1 + drift))) + 1000 + draw.randrange(late + 1)
        base.sample({Clock.BUS: ps // 40_000, Clock.NIC: ps // 30_000, Clock.LINK: link})
    return base


def test_the_time_is_that_of_the_nic_clock() -> None:
    base = Timebase(PERIODS)
    assert base.sample({Clock.BUS: 5, Clock.NIC: 7, Clock.LINK: 9}) == 210_000
    assert base.line(Clock.NIC) == (30_000.0, 0.0)


def test_one_sample_gives_the_offset_of_a_clock() -> None:
    base = Timebase(PERIODS)
    base.sample({Clock.BUS: 0, Clock.NIC: 100, Clock.LINK: 400})
    assert base.line(Clock.LINK) == (6_250.0, (100 - 2.5) * 30_000 - (400 - 2.5) * 6_250)


@pytest.mark.parametrize("drift", [0.0, 1e-4, -3e-4])
def test_the_rate_of_a_drifting_clock_is_found_within_a_millionth(drift: float) -> None:
    period, offset = sampled(200, drift).line(Clock.LINK)
    assert period == pytest.approx(6_250 * (1 + drift), rel=1e-6)
    assert offset == pytest.approx(-1001.5 * period, abs=100_000)


def test_the_number_of_samples_is_bounded() -> None:
    base = sampled(3 * KEPT, 1e-4)
    assert len(base._samples) <= KEPT
    assert base.line(Clock.LINK)[0] == pytest.approx(6_250 * (1 + 1e-4), rel=1e-6)


def test_counters_that_a_synchroniser_latches_late_give_the_times_of_their_edges() -> None:
    base, draw = Timebase(PERIODS), random.Random(1)
    for _ in range(1000):
        ps = draw.randrange(10**12)  # each counter is latched at the third of its edges after this moment
        base.sample({clock: ps // period + 3 * (clock is not Clock.BUS) for clock, period in PERIODS.items()})
    assert base.line(Clock.LINK)[1] == pytest.approx(0, abs=2_000)
