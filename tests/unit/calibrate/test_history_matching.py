"""History matching on functions with known answers.

Strategy: the scores of a known point are published. Emulators must predict left-out points, plausible points must lie
near the known one, and intervals of 90 % must contain nine in ten published values. A published value that no point
reaches must be named. Points that fail must be avoided.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from pymodels.errors import ConfigError
from tb.calibrate.design import points, spread
from tb.calibrate.emulate import FEWEST, Failures, fit, learn_failures
from tb.calibrate.holdout import coverage, held_out, predict, unmet
from tb.calibrate.match import LIMIT, Match, Observation, implausibility
from tb.calibrate.rank import ranks
from tb.calibrate.space import Array
from tb.calibrate.waves import Matched, run_waves
from tests.unit.calibrate.synthetic import FUNCTIONS, SIZE, evaluate, failing, observations

TRUTH = np.array([0.3, 0.7, 0.6, 0.5])


@cache
def matched(**offset: float) -> tuple[list[Observation], Matched]:
    rows = observations(TRUTH, offset)
    return rows, run_waves(rows, np.full(SIZE, 0.5), evaluate, 40, 2, "latin", 1)


@pytest.mark.parametrize("method", ["latin", "sobol"])
def test_a_design_fills_each_dimension_and_repeats_with_its_seed(method: str) -> None:
    found = points(method, 32, 3, 7)
    assert found.shape == (32, 3) and np.array_equal(found, points(method, 32, 3, 7))
    for column in found.T:
        assert len(set((column * 32).astype(int))) == 32, "one point in each stratum"
    assert len(points(method, 24, 3, 7)) == 24


def test_an_unknown_design_is_rejected() -> None:
    with pytest.raises(ConfigError, match="unknown design: 'grid'; choose latin or sobol"):
        points("grid", 8, 2, 1)


def test_chosen_candidates_are_far_from_known_points_and_from_each_other() -> None:
    line = np.linspace(0, 1, 11)[:, None]
    assert spread(line, np.array([[0.0]]), 2)[:, 0].tolist() == [1.0, 0.5]
    assert len(spread(line[:2], line[:2], 5)) == 0, "known points are not repeated"
    assert len(spread(line[:0], line, 3)) == 0


def test_an_emulator_predicts_points_that_it_has_not_seen() -> None:
    learned, new = points("latin", 60, SIZE, 1), points("sobol", 64, SIZE, 9)
    for name, function in FUNCTIONS.items():
        emulator = fit(learned, function(learned), 1)
        mean, deviation = emulator.predict(new)
        errors = mean - function(new)
        assert emulator.q2 > 0.95, name
        assert np.abs(errors).max() < 0.2 * function(new).std()
        assert np.mean(np.abs(errors) <= 2 * deviation + 1e-6) > 0.9, f"{name}: deviations are too small"


def test_an_emulator_of_noise_says_that_it_predicts_nothing() -> None:
    learned = points("latin", 60, SIZE, 1)
    noise = np.random.default_rng(3).normal(size=60)
    emulator = fit(learned, noise, 1)
    assert emulator.q2 < 0.3 and emulator.noise > 0.7


def test_a_constant_score_has_an_exact_emulator_without_ranks() -> None:
    learned = points("latin", 20, SIZE, 1)
    emulator = fit(learned, np.full(20, 5.0), 1)
    assert emulator.q2 == 1.0 and emulator.predict(learned[:2])[0].tolist() == [5.0, 5.0]
    assert ranks(emulator, list("abcd"), 1) == []


def test_failed_runs_are_left_out_and_too_few_runs_are_reported() -> None:
    learned = points("latin", 30, SIZE, 1)
    scores = FUNCTIONS["time"](learned)
    scores[::3] = np.nan
    assert fit(learned, scores, 1).q2 > 0.95
    scores[FEWEST - 1 :] = np.nan
    with pytest.raises(ValueError, match="but an emulator needs 8"):
        fit(learned, scores, 1)


def test_an_emulator_of_whole_numbers_knows_that_positions_between_them_are_equal() -> None:
    shares = points("latin", 40, 2, 1)

    def steps(places: Array) -> Array:
        return np.round(2 * places) / 2

    scores = 10 + 3 * steps(shares)[:, 0]
    rounding, plain = fit(shares, scores, 1, steps), fit(shares, scores, 1)
    assert rounding.q2 > 0.999 > plain.q2
    assert rounding.predict(np.array([[0.45, 0.5], [0.55, 0.5]]))[0] == pytest.approx([11.5, 11.5], abs=0.05)


def test_implausibility_counts_all_three_variances() -> None:
    row = Observation("a", "t", True, 10.0, 0.3, 0.4)
    assert implausibility(row, np.array([11.0]), 0.0)[0] == pytest.approx(2.0)
    assert implausibility(row, np.array([11.0]), 1.2)[0] == pytest.approx(1 / 1.3)


def test_waves_leave_a_small_space_around_the_known_point() -> None:
    rows, found = matched()
    match = found.match(rows)
    assert match.worst(TRUTH[None, :])[0] <= LIMIT, "the known point is not excluded"
    assert found.waves[-1].share < 0.1 and found.waves[-1].share <= found.waves[0].share + 0.01
    first, second = (found.met(rows)[np.array(found.of_wave) == wave] <= LIMIT for wave in (1, 2))
    assert second.mean() > 3 * first.mean(), "points of the second wave meet the rows more often"
    near = match.sample(SIZE, 1)
    assert np.abs(near[:, :2].mean(axis=0) - TRUTH[:2]).max() < 0.12
    assert 0.2 < near[:, 3].std() < 0.35, "a value without effect stays free"


def test_the_same_seed_gives_the_same_points() -> None:
    one, other = matched()[1], matched.__wrapped__()[1]
    assert np.array_equal(one.shares, other.shares) and one.waves == other.waves


def test_a_held_out_row_is_predicted_from_the_other_tables() -> None:
    rows, found = matched()
    told = {one.row.name: one for one in held_out(rows, found.emulators, Failures(None), SIZE, 1)}
    assert set(told) == set(FUNCTIONS)
    for name, one in told.items():
        assert one.low < one.best < one.high and one.inside, name
    assert told["peak"].high - told["peak"].low > 1.0, "the other tables do not know the third value"
    assert told["time"].error < 0.05


def test_a_row_of_a_left_out_table_does_not_condition_its_own_prediction() -> None:
    rows = observations(TRUTH, {"peak": 4.0})
    found = run_waves(rows, np.full(SIZE, 0.5), evaluate, 40, 1, "latin", 1)
    moved = {one.row.name: one for one in held_out(rows, found.emulators, Failures(None), SIZE, 1)}
    true = {one.row.name: one for one in held_out(observations(TRUTH), found.emulators, Failures(None), SIZE, 1)}
    assert moved["peak"].best == true["peak"].best, "its own published value is not used"
    assert moved["gain"].best != true["gain"].best, "it conditions other rows"


def test_intervals_of_90_percent_contain_nine_in_ten_published_values() -> None:
    learned = points("latin", 60, SIZE, 1)
    emulators = {name: fit(learned, function(learned), 1) for name, function in FUNCTIONS.items()}
    rng, inside = np.random.default_rng(5), []
    for trial in range(12):
        rows = []
        for row in observations(rng.random(SIZE)):
            wrong = rng.normal() * row.variance**0.5
            rows.append(Observation(row.name, row.table, row.train, row.published + wrong, row.sd, row.discrepancy))
        inside.append(coverage(held_out(rows, emulators, Failures(None), SIZE, trial)))
    assert 0.8 <= np.mean(inside) <= 0.99, "48 rows: two standard deviations are 0.09"


def test_an_interval_at_one_point_has_the_variance_of_rounding_and_discrepancy() -> None:
    row = Observation("a", "t", True, 5.0, 0.3, 0.4)
    emulator = fit(points("latin", 20, SIZE, 1), np.full(20, 5.0), 1)
    told = predict(row, emulator, np.tile(TRUTH, (4000, 1)), 1)
    assert told.best == 5.0 and told.inside and told.error == 0.0
    assert told.high - told.low == pytest.approx(2 * 1.645 * 0.5, rel=0.05)


def test_a_missing_mechanism_is_named_by_the_row_that_no_point_meets() -> None:
    rows, found = matched(rate=15.0)
    match = found.match(rows)
    assert unmet(match.rows, found.scores, match, SIZE, 1) == ["rate"]
    rows, found = matched(rate=15.0, peak=30.0)
    match = found.match(rows)
    assert unmet(match.rows, found.scores, match, SIZE, 1) == ["rate", "peak"], "each is out of reach alone"
    rows, found = matched()
    match = found.match(rows)
    assert unmet(match.rows, found.scores, match, SIZE, 1) == []


def test_a_row_that_contradicts_the_others_together_is_named() -> None:
    rows = observations(TRUTH)
    rows.append(Observation("again", "Table again", True, rows[0].published + 1.5, 0.02, 0.05))

    def both(shares: np.ndarray, label: str) -> tuple[dict[str, np.ndarray], list[str]]:
        scores, reasons = evaluate(shares, label)
        return {**scores, "again": scores["time"]}, reasons

    found = run_waves(rows, np.full(SIZE, 0.5), both, 40, 1, "latin", 1)
    match = found.match(rows)
    told = unmet(match.rows, found.scores, match, SIZE, 1)
    assert told == ["again"], "without it, all others are met"


def test_the_strongest_value_is_ranked_first() -> None:
    learned = points("latin", 60, SIZE, 1)
    told = ranks(fit(learned, FUNCTIONS["time"](learned), 1), ["zero", "one", "two", "three"], 1)
    assert [rank.name for rank in told[:2]] == ["zero", "one"]
    assert told[0].total == pytest.approx(0.8, abs=0.05), "variances 16 and 4"
    assert told[0].effect == pytest.approx(4.0, rel=0.1)


def test_points_at_which_runs_fail_are_recorded_and_avoided() -> None:
    asked: list[np.ndarray] = []
    rows = observations(TRUTH)
    found = run_waves(rows, np.full(SIZE, 0.5), failing(0.7, asked), 40, 2, "latin", 1)
    assert found.waves[0].failed == 12 and found.reasons.count("the run hangs") >= 12
    assert (asked[2][:, 0] > 0.7).mean() < 0.1, "the second wave avoids them"
    corner = np.array([[0.95, 0.5, 0.5, 0.5], [0.2, 0.5, 0.5, 0.5]])
    assert found.failures.expected(corner).tolist() == [True, False]
    assert np.isinf(found.match(rows).worst(corner))[0]


def test_without_failures_no_point_is_expected_to_fail() -> None:
    shares = points("latin", 10, SIZE, 1)
    assert not learn_failures(shares, np.zeros(10, dtype=np.bool_), 1).expected(shares).any()


def test_failures_everywhere_end_the_calibration_with_their_reason() -> None:
    with pytest.raises(ConfigError, match="no emulator: the run hangs; correct the runs, or give more than 8 points"):
        run_waves(observations(TRUTH), np.full(SIZE, 0.5), failing(-1.0, []), 10, 1, "latin", 1)


def test_a_match_without_rows_leaves_the_whole_space() -> None:
    assert Match([], [], Failures(None)).left(SIZE, 1)[1] == 1.0


def test_values_without_effect_keep_their_range_among_many() -> None:
    size, rows = 48, [replace(row, discrepancy=0.002 * row.published) for row in observations(TRUTH, sd=0.002)]
    learned = points("latin", 60, size, 1)
    known = [fit(learned, FUNCTIONS[row.name](learned[:, :SIZE]), 1) for row in rows]
    drawn = Match(rows, known, Failures(None)).sample(size, 1)
    assert np.abs(drawn[:, :3].mean(axis=0) - TRUTH[:3]).max() < 0.05 and drawn[:, 0].std() < 0.03
    widths = np.quantile(drawn[:, SIZE:], 0.95, axis=0) - np.quantile(drawn[:, SIZE:], 0.05, axis=0)
    assert widths.min() > 0.75, "0.9 is the whole; fewer moves narrow some by half"
