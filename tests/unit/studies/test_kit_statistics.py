"""Numbers that the measurement kit reads from measured values, and how it hands them in.

Strategy: values and curves made up by hand, whose percentiles, crossings and slopes are known; results are compared
with those of a lab that keeps what it is given.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb.studies.kit.arrivals import none_of
from tb.studies.kit.findings import curve
from tb.studies.kit.statistics import cheaper_up_to, crossing, half_bandwidth, percentile, slope
from tb.studies.kit.steady import METRIC, WITHIN, faster, tell_steady
from tests.unit.studies.made_up_mail import MadeUpLab


@given(st.lists(st.integers(-1000, 1000), min_size=1), st.integers(0, 100))
def test_percentiles_are_those_of_numpy(values: list[int], percent: int) -> None:
    assert percentile(values, percent) == pytest.approx(float(np.percentile(values, percent)))


def test_least_median_and_greatest_are_percentiles() -> None:
    assert [percentile([30, 10, 20, 60], percent) for percent in (0, 50, 100)] == [10, 25, 60]


def test_half_of_the_peak_is_found_between_sizes() -> None:
    assert half_bandwidth([100, 200, 400], [10.0, 30.0, 100.0], 100.0) == pytest.approx(200 + 200 * 20 / 70)
    assert half_bandwidth([100, 200], [80.0, 100.0], 100.0) == 100


def test_the_cheaper_curve_ends_where_it_first_costs_more() -> None:
    assert cheaper_up_to([1, 2, 3, 4], [1.0, 2.0, 3.0, 1.0], [2.0, 2.0, 2.0, 2.0]) == 2
    assert cheaper_up_to([1, 2], [3.0, 1.0], [2.0, 2.0]) == 0


@pytest.mark.parametrize(
    ("one", "other", "at"),
    [
        ([1.0, 2.0, 3.0], [2.0, 2.25, 2.5], 233.33),
        ([1.0, 2.0, 3.0], [0.5, 0.5, 0.5], 0.0),
        ([1.0, 2.0, 3.0], [9.0, 9.0, 9.0], 300.0),
        ([1.0, 2.0, 3.0], [2.0, 1.0, 1.0], 150.0),
    ],
)
def test_the_crossing_of_two_curves_is_where_they_meet(one: list[float], other: list[float], at: float) -> None:
    assert crossing([100, 200, 300], one, other) == pytest.approx(at, abs=0.01)


def test_a_slope_is_that_of_the_least_squares_line() -> None:
    assert slope([1, 2, 3], [5.0, 7.0, 9.0]) == pytest.approx(2)
    assert slope([0, 1, 2, 3], [0.0, 2.0, 0.0, 2.0]) == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("share", "at", "last", "percent"),
    [(0.5, 50, 100, 0.0), (0.5, 60, 100, 25.0), (0.25, 25, 100, 0.0), (0.5, 40, 100, -100 / 6), (0.5, 100, 100, 0.0)],
)
def test_one_time_costs_make_the_second_half_of_a_stream_faster(
    share: float, at: int, last: int, percent: float
) -> None:
    assert faster(share, 1000 + at, 1000 + last, 1000, 1100) == pytest.approx(percent)


@pytest.mark.parametrize(
    ("worst", "enough", "settings", "fails"),
    [
        (WITHIN, True, (), False),
        (WITHIN + 0.1, True, (), True),
        (-WITHIN - 0.1, True, (), True),
        (50.0, False, (), False),
        (50.0, True, ("fault.loss",), False),
    ],
)
def test_a_stream_that_has_not_converged_fails_the_check(
    worst: float, enough: bool, settings: tuple[str, ...], fails: bool
) -> None:
    lab: Any = MadeUpLab(settings)
    tell_steady(lab, [1.0, worst, 0.0], enough)
    assert lab.findings.metrics == {METRIC: worst}
    assert bool(lab.findings.failures) is fails


def test_errors_are_metrics_and_fail_the_run() -> None:
    lab = MadeUpLab()
    none_of(lab, {"lost": 0, "out_of_order": 2}, 10)
    assert lab.findings.metrics == {"lost": 0, "out_of_order": 2}
    assert lab.findings.failures == ["messages out of order: 2 of 10 messages"]


def test_a_curve_is_a_series_and_a_metric_for_each_point() -> None:
    lab = MadeUpLab()
    curve(lab, "one_way", [4, 8], [1.5, 2.5], "B", "us", "one_way_us_{}B")
    curve(lab, "", [4], [3.0], "B", "us", "other_{}B")
    curve(lab, "drawn", [4], [3.0], "B", "us")
    assert lab.findings.metrics == {"one_way_us_4B": 1.5, "one_way_us_8B": 2.5, "other_4B": 3.0}
    assert sorted(lab.findings.series) == ["drawn", "one_way"]
    with pytest.raises(ValueError, match="zip"):
        curve(lab, "short", [4, 8], [1.0], "B", "us", "short_{}B")
