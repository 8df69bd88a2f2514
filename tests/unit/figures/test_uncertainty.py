"""Sensitivity of a figure to values that are assumed or calibrated: the points that are run, and the
resulting statement.

Strategy: no simulation runs. A study made up as a formula of three values of a profile replaces the runs: one value
changes the figure, one changes another metric, the others change neither. The requested points, the values found, the
interval and the order of the swings are compared with the formula.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from pymodels.costs.table import PathTable
from pymodels.errors import ConfigError
from pymodels.profiles import load_profile
from pymodels.published import Published
from pymodels.results import Kind
from tb.figures.intervals import known_intervals
from tb.plan import studies
from tb.plan.request import resolve
from tb.report.tables import Table
from tb.sweep.points import check, spread
from tb.tools.paths import SIMULATORS
from tb.uncertainty.design import Place, alone, hypercube, together, unsure
from tb.uncertainty.page import page
from tb.uncertainty.run import command, leave, measure, rows_of, samples
from tb.uncertainty.spread import Figure, Swing, figure, moved, quantile

PROFILE = load_profile("sp+p3-450")
VALUE = Published(
    "Latency", "paper 9", 30.0, "us", Kind.PREDICTED, "firmvia_latency", "x", "sp+p3-450", within=0.1, first=30.0
)


class Formula:
    """Replaces the runs: x = 10 + uncached_clocks + 2 x start_delay of the card; a run may fail."""

    def __init__(self, fails: str = "", at: str = "") -> None:
        self.base = resolve("firmvia_latency", "verilator", "1", False, "two_hosts", "sp", "", SIMULATORS)
        self.asked: list[Place] = []
        self.failures: list[str] = []
        self._fails, self._at = fails, at

    def metrics(self, places: Sequence[Place]) -> list[Mapping[str, float]]:
        self.asked += places
        return [self._one(place) for place in places]

    def _one(self, place: Place) -> Mapping[str, float]:
        if self._fails in place and self._at in ("", place[self._fails]):
            self.failures.append("it broke")
            return {}
        now = {name: float(place.get(name, value.value)) for name, value in PROFILE.values.items()}
        return {"x": 10 + now["processor.uncached_clocks"] + 2 * now["pci.start_delay"], "other": now["dma.start_ns"]}


def found(formula: Formula, *rows: Published, draws: int = 8) -> tuple[list[Figure], list[str]]:
    """Return the figures of a formula, and the names of the values that were drawn."""
    points: Any = formula
    figures, drawn = measure(points, rows or [VALUE], unsure(PROFILE, []), draws, Console(quiet=True))
    return figures, [one.key.name for one in drawn]


def test_only_values_with_an_effect_are_drawn() -> None:
    formula = Formula()
    (figure,), drawn = found(formula)
    assert sorted(drawn) == ["pci.start_delay", "processor.uncached_clocks"]
    assert [swing.key for swing in figure.swings] == ["pci.start_delay", "processor.uncached_clocks"], "strongest first"
    assert figure.swings[0] == Swing("pci.start_delay", 10 + 19 + 2, 10 + 19 + 8)
    assert figure.measured == 33.0 and 31.0 - 1 <= figure.low <= figure.median <= figure.high <= 37.0 + 1
    tables = {name.split(".")[0] for place in formula.asked if len(place) == 1 for name in place}
    assert not tables & {"host", "bridge"}, "tables that move nothing are not looked at value by value"


def test_a_value_that_is_set_by_the_user_is_not_drawn() -> None:
    assert "pci.start_delay" in {one.key.name for one in unsure(PROFILE, [])}
    assert "pci.start_delay" not in {one.key.name for one in unsure(PROFILE, ["pci.start_delay"])}


def test_published_values_of_a_profile_are_not_drawn() -> None:
    names = {one.key.name for one in unsure(PROFILE, [])}
    assert "processor.uncached_clocks" in names and "clock.nic_ps" not in names and "host.clock_mhz" not in names


def test_each_table_and_each_value_takes_both_ends_of_its_range() -> None:
    values = unsure(PROFILE, [])
    low, high = together(values)["processor"]
    assert (low["processor.uncached_clocks"], high["processor.uncached_clocks"]) == ("18", "20")
    places = alone(values)
    assert places["processor.uncached_clocks"] == tuple({"processor.uncached_clocks": v} for v in ("18", "20"))
    assert places["pci.devsel"] == ({}, {"pci.devsel": "2"}), "its lower end is what the profile has"


def test_a_hypercube_has_each_stratum_once_and_the_same_draws_for_a_seed() -> None:
    values = [one for one in unsure(PROFILE, []) if one.key.name == "dma.start_ns"]
    drawn = [int(place["dma.start_ns"]) for place in hypercube(values, 12, 7)]
    assert [(value - 1110) // 5 for value in sorted(drawn)] == pytest.approx(range(12), abs=1)
    assert hypercube(values, 12, 7) == hypercube(values, 12, 7) != hypercube(values, 12, 8)
    for place in hypercube(unsure(PROFILE, []), 6, 1):
        PROFILE.override(place)


def test_a_failed_point_is_excluded_and_the_rest_is_used() -> None:
    formula = Formula(fails="pci.start_delay")
    (figure,), drawn = found(formula)
    assert formula.failures and figure.measured == 33.0
    assert figure.low <= figure.high and "pci.start_delay" in drawn
    assert (figure.drawn, figure.failed) == (0, 8)
    assert Swing("pci.start_delay", None, None) in figure.swings, "an end that failed is shown"


def test_a_failed_draw_is_counted_and_reported(tmp_path: Path) -> None:
    points: Any = Formula(fails="pci.start_delay", at="4")
    (figure,), _ = measure(points, [VALUE], unsure(PROFILE, []), 8, Console(quiet=True))
    assert 0 < figure.failed < 8 and figure.drawn + figure.failed == 8
    assert Swing("pci.start_delay", 31.0, None) in figure.swings
    made = leave(tmp_path, points.base, [figure], [], 8, points.failures)
    assert json.loads((tmp_path / "uncertainty.json").read_text(encoding="utf-8"))["failed"] == points.failures
    assert "it broke" in made.read_text(
        encoding="utf-8"
    ) and f"{figure.drawn}, {figure.failed} failed" in made.read_text(encoding="utf-8")


def test_a_swing_keeps_its_direction() -> None:
    (made,) = (figure(VALUE, {"x": 3.0}, {"k": ({"x": 5.0}, {"x": 2.0})}, []),)
    assert made.swings == (Swing("k", 5.0, 2.0),), "more of the value makes less of the figure"
    assert made.swings[0].span(3.0) == 3.0 and Swing("k", 3.0, 2.5).span(3.0) == 0.5


def test_a_study_without_measured_values_is_rejected() -> None:
    points: Any = Formula()
    points.metrics = lambda places: [{} for _ in places]
    with pytest.raises(ConfigError, match="nothing measured"):
        measure(points, [VALUE], unsure(PROFILE, []), 4, Console(quiet=True))


def test_a_study_without_published_values_lists_profiles_that_have_some() -> None:
    assert {row.metric for row in rows_of("firmvia_latency", PROFILE, {})} >= {"one_way_us_4B", "host_us"}
    with pytest.raises(ConfigError, match=r"firmvia_latency on lanai9\+p3-450.*firmvia_latency PROFILE=sp\+p3-450"):
        rows_of("firmvia_latency", load_profile("lanai9"), {})


@pytest.mark.parametrize(("share", "expected"), [(0.0, 1.0), (0.5, 2.5), (1.0, 4.0), (0.05, 1.15)])
def test_quantile_lies_between_its_neighbours(share: float, expected: float) -> None:
    assert quantile([1.0, 2.0, 3.0, 4.0], share) == pytest.approx(expected)
    assert quantile([3.0], share) == 3.0


def test_a_change_of_the_last_digit_counts_as_an_effect() -> None:
    assert moved({"x": 1.0}, [{"x": 1.0}, {"x": 1.0000000001}], ["x"])
    assert not moved({"x": 1.0, "y": 2.0}, [{"x": 1.0, "y": 3.0}], ["x"])


def test_the_files_of_uncertainty_are_those_that_fidelity_reads(tmp_path: Path) -> None:
    formula = Formula()
    points: Any = formula
    figures, drawn = measure(points, [VALUE], unsure(PROFILE, []), 6, Console(quiet=True))
    made = leave(tmp_path / "one", formula.base, figures, drawn, 6, [])
    text = made.read_text(encoding="utf-8")
    assert "<svg" in text and "published 30" in text and "processor.uncached_clocks" in text
    (row,) = json.loads((made.parent / "uncertainty.json").read_text(encoding="utf-8"))["rows"]
    assert row["swings"][0]["key"] == "pci.start_delay"
    known = known_intervals(tmp_path)["Latency"]
    assert (known.low, known.high, known.measured, known.draws) == (row["low"], row["high"], 33.0, 6)
    assert known.is_of(33.0, "make run STUDY=firmvia_latency PROFILE=sp+p3-450")


def test_the_command_that_repeats_the_intervals_is_recorded() -> None:
    base = resolve("firmvia_latency", "verilator", "2", False, "two_hosts", "sp", "a=1 b=2", SIMULATORS)
    assert command(base, 9) == "make uncertainty STUDY=firmvia_latency PROFILE=sp SET='a=1 b=2' SEED=2 SAMPLES=9"


def test_names_on_the_page_are_escaped() -> None:
    one = Figure("<b>", "paper", 1.0, "us", 1.0, 1.0, 1.0, 1.0, (), 1, 0)
    assert "<b>" not in page("a", "b", [one], Table(("x",), ()), ["<b>"])


@pytest.mark.parametrize("text", ["1", "x", "-3", "100000"])
def test_an_invalid_number_of_draws_is_rejected(text: str) -> None:
    assert (samples(""), samples("30")) == (24, 30)
    with pytest.raises(ConfigError, match="invalid number of draws"):
        samples(text)


@pytest.mark.parametrize("profile", ["lanai9", "lanai4", "sp"])
def test_a_study_accepts_the_ends_of_all_ranges(profile: str) -> None:
    info = studies.load("firmvia_bandwidth")
    base = resolve(info.name, "verilator", "1", False, "two_hosts", profile, "", SIMULATORS)
    ends = [place for both in together(unsure(load_profile(profile), [])).values() for place in both]
    check(spread(base, info, ends), info)
    for place in ends:
        here = load_profile(profile).override(place)
        PathTable.of_nic("via", here.nic.target).cost("look_start").waits(here.integer("processor.load_clocks"))
