"""Families, their spaces and their runs, and the command.

Strategy: families of the repository are loaded with values and unknowns that have one fault each. No simulation runs:
a formula replaces the runs of a point, one setting makes it fail, and an interruption ends it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyarrow import parquet
from rich.console import Console

from pymodels.errors import ConfigError
from pymodels.published import load_families, load_published
from pymodels.published_roles import Role
from pymodels.results import ResultsError
from tb.calibrate import evaluate as evaluation
from tb.calibrate import space as spaces
from tb.calibrate.evaluate import FAILED, Evaluation
from tb.calibrate.family import Family, load_family
from tb.calibrate.run import again, calibrate, count, main
from tb.calibrate.space import Unknowns, default, load_unknowns, rounded, settings
from tb.figures.held_out import known_calibrations
from tb.plan.provenance import commit
from tb.sweep import farm
from tb.sweep.cache import Cache
from tb.sweep.points import Point
from tb.sweep.work import Done
from tb.tools.paths import ROOT
from tests.unit.report.madeup import results

NAME = "firmvia"
SP = "sp+p3-450"
KEYS = ("processor.uncached_clocks", "pci.latency_timer", "host.instruction_clocks")


@pytest.fixture(scope="module")
def whole() -> Family:
    return load_family(NAME, "verilator", "1")


@pytest.fixture
def small(whole: Family) -> Family:
    """Return a family with three uncertain values and two rows of one run."""
    run = next(run for run in whole.runs if run.base.study == "firmvia_latency")
    rows = tuple(row for row in run.rows if row.metric in ("one_way_us_4B", "host_kernel_us"))
    assert [row.role for row in rows] == [Role.TRAIN, Role.TRAIN]
    kept = tuple(one for one in whole.observed if one.name in {row.name for row in rows})
    dimensions = tuple(one for one in whole.space if one.name in KEYS)
    return Family(NAME, (replace(run, rows=rows),), dimensions, kept)


def formula(point: Point) -> Done:
    """Return results that depend on two values; a latency timer of 16 fails."""
    told = {key: float(point.settings[key]) for key in KEYS}
    if told["pci.latency_timer"] == 16:
        return Done(failures=("the run hangs",))
    metrics = {
        "one_way_us_4B": 14.0 + 0.2 * told["processor.uncached_clocks"] + 0.4 * told["host.instruction_clocks"],
        "host_kernel_us": 1.13 + 0.5 * told["host.instruction_clocks"],
    }
    return Done(results=json.dumps(results(metrics).as_json()))


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Point]:
    """Replace the farm by a formula, and return the points that it runs."""
    points: list[Point] = []

    def run(dask: object, todo: Sequence[Point], ended: Callable[[Point, Done, bool], None], work: object) -> None:
        for point in todo:
            points.append(point)
            done = formula(point)
            if done.failures:
                ended(point, done, True)
            ended(point, done, False)

    monkeypatch.setattr(farm, "run", run)
    monkeypatch.setattr(evaluation, "check", lambda points, info: None)
    monkeypatch.setattr("tb.sweep.cache.FOLDER", tmp_path / "points")
    return points


def runner(family: Family, folder: Path) -> Evaluation:
    return Evaluation(family, None, folder, Console(quiet=True), Cache())


def test_every_declared_unknown_belongs_to_a_family_whose_space_can_be_built() -> None:
    trained = {row.family for row in load_published() if row.role is Role.TRAIN}
    for name in sorted(trained):
        family = load_family(name, "verilator", "1")
        assert family.space and any(row.train for row in family.observed), name
        assert set(load_unknowns(name).values) <= {one.name for one in family.space}
        for one in family.space:
            assert all(0 <= span.share <= 1 for span in span_list(one)), one.name


def span_list(one: spaces.Dimension) -> list[spaces.Span]:
    return list(one.spans.values())


def test_the_default_position_gives_the_values_of_the_profile(whole: Family) -> None:
    told = settings(whole.space, SP, default(whole.space))
    for one in whole.space:
        if SP in one.spans:
            assert float(told[one.name]) == pytest.approx(float(one.spans[SP].value), rel=1e-4), one.name


def test_a_category_takes_its_values_only(whole: Family) -> None:
    (timer,) = (one for one in whole.space if one.name == "pci.latency_timer")
    values = [timer.first.at(share) for share in np.linspace(0, 1, 200)]
    assert set(values) == set(timer.first.choices) and timer.first.at(1.0) == 248


def test_an_option_of_a_layer_is_varied_in_the_runs_that_have_it() -> None:
    family = load_family("treadmarks", "verilator", "1")
    (place,) = (at for at, one in enumerate(family.space) if one.name == "udp.mtu")
    shares = default(family.space)
    told = {}
    for share in (0.1, 0.9):
        shares[place] = share
        for run in family.runs:
            told[run.base.study, share] = settings(family.space, run.profile.name, shares, run.info.options)
    assert told["udp_latency", 0.1]["udp.mtu"] == "1500" and told["udp_latency", 0.9]["udp.mtu"] == "9000"
    assert "udp.mtu" not in told["via_compare", 0.1], "Berkeley VIA has no such option"
    assert "tmk.collect_bytes" in told["tmk_apps", 0.1] and "tmk.collect_bytes" not in told["udp_latency", 0.1]


def test_a_family_without_conditioning_rows_is_rejected_with_those_that_have_some() -> None:
    cause = "FAMILY: family without conditioning rows: no row of npb has the role train; choose one of: am2, bvia"
    with pytest.raises(ConfigError, match=cause):
        load_family("npb", "verilator", "1")


def test_an_unknown_family_is_rejected() -> None:
    with pytest.raises(ConfigError, match="FAMILY: unknown family: 'firmvai'; did you mean 'firmvia'"):
        load_family("firmvai", "verilator", "1")
    assert NAME in load_families()


@pytest.mark.parametrize(
    ("declared", "text"),
    [
        (
            {"pci.latency_timer": {"low": 70, "high": 90, "why": "a"}},
            "range excludes the value of the profile: pci.latency_timer is 64 on sp",
        ),
        (
            {"pci.latency_timer": {"choices": [16, 32], "why": "a"}},
            "range excludes the value of the profile: pci.latency_timer is 64 on sp",
        ),
        ({"via.outstanding": {"choices": [0, 100000], "why": "a"}}, "via.outstanding is [0-9]+ by default, outside"),
        ({"pci.latency_tmer": {"low": 1, "high": 90, "why": "a"}}, "unknown key: 'pci.latency_tmer'; did you mean"),
    ],
)
def test_a_range_that_excludes_the_default_is_rejected(declared: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        load_family(NAME, "verilator", "1", unknowns=Unknowns(declared, {}))


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("a.unknown.k = { low = 2, high = 1, why = 'x' }", "unknown value incomplete: k has low, high, why"),
        ("a.unknown.k = { choices = [1], why = 'x' }", "unknown value incomplete: k has choices, why"),
        ("a.unknown.k = { low = 1, high = 2 }", "unknown value incomplete: k has low, high; write low < high"),
        ("a.values = 1", "unknown key 'values': a; write settings, unknown or without"),
    ],
)
def test_an_incomplete_unknown_is_named_with_its_line(tmp_path: Path, line: str, text: str) -> None:
    path = tmp_path / "unknowns.toml"
    path.write_text(f"# one\n{line}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=rf"unknowns.toml:2: {text}"):
        load_unknowns("a", path)


def test_runs_have_the_settings_of_the_recorded_commands_or_the_declared_ones(whole: Family) -> None:
    assert any(dict(run.base.settings) == {"clock.pci_ps": "30000", "pci.width": "32"} for run in whole.runs)
    other = load_family(NAME, "verilator", "1", unknowns=Unknowns({}, {"firmvia_bandwidth": "messages=20"}))
    (run,) = (run for run in other.runs if run.base.study == "firmvia_bandwidth")
    assert dict(run.base.settings) == {"messages": "20"}


def test_a_rounded_position_has_the_same_value_and_is_the_same_for_all_positions_of_a_value(whole: Family) -> None:
    shares = np.random.default_rng(1).random((200, len(whole.space)))
    near = rounded(whole.space, shares)
    assert np.array_equal(rounded(whole.space, near), near)
    for at, one in enumerate(whole.space):
        values = [one.first.at(share) for share in shares[:, at]]
        assert values == [one.first.at(share) for share in near[:, at]], one.name
        assert len(set(values)) == len({round(float(share), 9) for share in near[:, at]}), one.name


def test_a_row_that_is_declared_too_dear_is_not_run(whole: Family) -> None:
    (row,) = (name for name, one in whole.rows.items() if one.study == "firmvia_pio_dma")
    less = load_family(NAME, "verilator", "1", unknowns=Unknowns({}, {}, {row: "a reason"}))
    assert whole.rows.keys() - less.rows.keys() == {row} and less.without == {row: "a reason"}
    assert all(run.base.study != "firmvia_pio_dma" for run in less.runs)
    with pytest.raises(ConfigError, match="unknown row: 'largest message'"):
        load_family(NAME, "verilator", "1", unknowns=Unknowns({}, {}, {"largest message": "a reason"}))


def test_a_failed_run_is_recorded_with_its_reason_and_not_repeated(
    small: Family, tmp_path: Path, asked: list[Point]
) -> None:
    at = np.array([default(small.space), default(small.space)])
    timer = [one.name for one in small.space].index("pci.latency_timer")
    at[1, timer] = 0.0
    first = runner(small, tmp_path)
    scores, reasons = first.scores(at, "wave")
    assert reasons == ["", "the run hangs"] and len(asked) == first.runs == 2
    assert np.isnan(scores[small.observed[0].name]).tolist() == [False, True]
    again = runner(small, tmp_path)
    assert again.scores(at, "wave")[1] == reasons and len(asked) == 2, "neither result nor failure is repeated"
    (tmp_path / FAILED).write_text("{", encoding="utf-8")
    with pytest.raises(ResultsError, match="invalid record of failures"):
        runner(small, tmp_path)


def test_a_run_that_something_else_has_ended_is_repeated_by_the_next_command(
    small: Family, tmp_path: Path, asked: list[Point], monkeypatch: pytest.MonkeyPatch
) -> None:
    killed = Done(failures=("the simulator was killed by SIGKILL",))
    monkeypatch.setitem(globals(), "formula", lambda point: killed)
    at = default(small.space)[None, :]
    assert runner(small, tmp_path).scores(at, "wave")[1] == ["the simulator was killed by SIGKILL"]
    monkeypatch.undo()
    assert runner(small, tmp_path).failures == {} and len(asked) == 1


def test_a_point_that_cannot_be_planned_is_recorded(
    small: Family, tmp_path: Path, asked: list[Point], monkeypatch: pytest.MonkeyPatch
) -> None:
    def reject(points: Sequence[Point], info: object) -> None:
        raise ConfigError("AXES", 0, "invalid point", "values contradict", "leave it out")

    monkeypatch.setattr(evaluation, "check", reject)
    _, reasons = runner(small, tmp_path).scores(default(small.space)[None, :], "wave")
    assert "values contradict" in reasons[0] and asked == []


def test_an_interrupted_calibration_continues_with_the_same_points(
    small: Family, tmp_path: Path, asked: list[Point], monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(points: int) -> Any:
        return calibrate(small, runner(small, tmp_path).scores, points, 2, "latin", 1, "make calibrate")

    once = Cache.keep

    def interrupted(self: Cache, point: Point, text: str) -> Any:
        if len(asked) > 10:
            raise KeyboardInterrupt
        return once(self, point, text)

    monkeypatch.setattr(Cache, "keep", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(16)
    assert len(asked) == 11
    monkeypatch.setattr(Cache, "keep", once)
    found = run(16)
    repeated = {point.key for point in asked}
    assert len(asked) == len(repeated) + 1, "only the interrupted run is repeated"
    assert len(found.matched.reasons) == 33
    before = len(asked)
    assert run(16).as_json() == found.as_json() and len(asked) == before


def test_the_outcome_tells_each_value_before_and_after(small: Family, tmp_path: Path, asked: list[Point]) -> None:
    found = calibrate(small, runner(small, tmp_path).scores, 24, 2, "sobol", 1, "make calibrate FAMILY=firmvia")
    plain = found.as_json()
    clocks, timer = (plain["values"][name] for name in ("host.instruction_clocks", "pci.latency_timer"))
    (span,) = (one.first for one in small.space if one.name == "host.instruction_clocks")
    assert (clocks["low"], clocks["high"], clocks["profile"]) == (span.low, span.high, span.value)
    assert clocks["choices"] == [] and clocks["unit"] == span.key.unit and clocks["why"]
    low, _, high = clocks["posterior"]
    assert clocks["ratio"] == pytest.approx((high - low) / (0.9 * (span.high - span.low)))
    assert clocks["ratio"] < 0.8 < timer["ratio"], "no row depends on the latency timer"
    assert timer["choices"] == [16, 24, 32, 48, 64, 96, 128, 192, 248] and timer["profile"] == 64


def test_the_outcome_counts_points_and_rows(small: Family, tmp_path: Path, asked: list[Point]) -> None:
    first, second = small.observed
    changed = replace(first, published=first.published + 1), second
    small = replace(small, observed=changed, without={"a": "a day a run"})
    found = calibrate(small, runner(small, tmp_path).scores, 24, 2, "sobol", 1, "make calibrate FAMILY=firmvia")
    plain, worst = found.as_json(), found.matched.met(small.observed)
    assert plain["points"] == len(worst) and plain["failed"] == np.isinf(worst).sum() > 0
    assert plain["conditioning"] == [one.name for one in small.observed] and plain["skipped"] == {"a": "a day a run"}
    assert plain["met"] == (worst <= 3).sum() and 0 < plain["met"] < plain["points"] - plain["failed"]
    assert plain["default"]["implausibility"] == worst[0] > plain["best"]["implausibility"] == worst.min()
    told = {row[0]: row[1] for row in found.summary().rows}
    assert told["points that meet all conditioning rows"] == str(plain["met"])
    assert told["implausibility of the profiles' values, of the best point"] == f"{worst[0]:.2f}, {worst.min():.2f}"
    widths = [(one["high"] - one["low"]) / one["published"] for one in plain["rows"]]
    assert told["median relative width of the intervals of 90 %"] == f"{100 * np.median(widths):.1f} %"


def test_the_outcome_is_left_as_page_json_and_table(small: Family, tmp_path: Path, asked: list[Point]) -> None:
    found = calibrate(small, runner(small, tmp_path).scores, 24, 2, "sobol", 1, "make calibrate FAMILY=firmvia")
    page = found.leave(tmp_path / "out").read_text(encoding="utf-8")
    assert "make calibrate FAMILY=firmvia" in page and "the run hangs" in page
    plain = json.loads((tmp_path / "out" / "calibrate.json").read_text(encoding="utf-8"))
    assert [row["inside"] for row in plain["rows"]] == [True, True] and plain["unmet"] == []
    assert plain["commit"] == commit(ROOT) and plain["command"] == "make calibrate FAMILY=firmvia"
    told = known_calibrations(tmp_path, tmp_path / "none")["firmvia"]
    inside = {row["name"]: row["inside"] for row in plain["rows"]}
    assert {name: one.inside for name, one in told.rows.items()} == inside, "as the page of fidelity reads it"
    (one_way, _) = sorted(plain["rows"], key=lambda row: -row["published"])
    assert one_way["ranks"][0]["name"] == "processor.uncached_clocks"
    low, _, high = plain["values"]["host.instruction_clocks"]["posterior"]
    assert low <= 1.0 <= high and high - low < 0.6, "1.63 us in the kernel are at 1.0 clock"
    table = parquet.read_table(tmp_path / "out" / "points.parquet").to_pydict()
    assert len(table["wave"]) == len(found.matched.reasons) and table["wave"][0] == 0
    assert set(table["value.pci.latency_timer"]) <= {16, 24, 32, 48, 64, 96, 128, 192, 248}
    failed = [timer == 16 for timer in table["value.pci.latency_timer"]]
    assert [reason is not None for reason in table["failure"]] == failed and any(failed)


def test_a_table_of_points_gives_the_same_outcome_without_a_run(
    small: Family, tmp_path: Path, asked: list[Point]
) -> None:
    found = calibrate(small, runner(small, tmp_path).scores, 16, 2, "latin", 1, "make calibrate FAMILY=firmvia")
    found.leave(tmp_path)
    before, table = len(asked), tmp_path / "points.parquet"
    repeated = again(small, table, 1)
    assert len(asked) == before and repeated.origin == found.origin
    assert repeated.matched.waves == found.matched.waves
    for one, other in zip(repeated.predictions, found.predictions, strict=True):
        assert one.row == other.row
        assert (one.best, one.low, one.high, one.q2) == pytest.approx(
            (other.best, other.low, other.high, other.q2), 1e-6
        )
    repeated.leave(tmp_path / "again")
    assert parquet.read_table(table).equals(parquet.read_table(tmp_path / "again" / "points.parquet"))


def test_a_table_of_other_values_or_ranges_is_refused(small: Family, tmp_path: Path, asked: list[Point]) -> None:
    calibrate(small, runner(small, tmp_path).scores, 16, 1, "latin", 1, "make calibrate").leave(tmp_path)
    table = tmp_path / "points.parquet"
    with pytest.raises(ResultsError, match="table of other values: .*: pci.latency_timer; run make calibrate without"):
        again(replace(small, space=tuple(one for one in small.space if one.name != "pci.latency_timer")), table, 1)
    with pytest.raises(ResultsError, match="table of other rows"):
        again(replace(small, runs=(replace(small.runs[0], rows=small.runs[0].rows[:1]),)), table, 1)
    narrow = [
        replace(one, spans={at: replace(s, low=s.high - 1) for at, s in one.spans.items()}) for one in small.space
    ]
    with pytest.raises(ResultsError, match="table of other ranges: .*: processor.uncached_clocks from"):
        again(replace(small, space=tuple(narrow)), table, 1)
    table.write_bytes(b"PAR1")
    with pytest.raises(ResultsError, match="invalid table of points: .*points.parquet"):
        again(small, table, 1)
    with pytest.raises(ResultsError, match="invalid table of points: .*none.parquet"):
        again(small, tmp_path / "none.parquet", 1)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["all", "--points=a"], "FAMILY: a table belongs to one family: FAMILY is all; name the family"),
        (["nosuch"], "FAMILY: unknown family: 'nosuch'"),
        (["firmvia", "--samples=2"], "SAMPLES: invalid number: SAMPLES is '2'; give 8 to 100000"),
        (["firmvia", "--waves=0"], "WAVES: invalid number: WAVES is '0'; give 1 to 100000"),
    ],
)
def test_the_command_rejects_invalid_words(words: list[str], text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    said = capsys.readouterr()
    assert text in " ".join((said.out + said.err).split())


def test_a_number_has_its_default() -> None:
    assert count("WAVES", "", 3, 1) == 3 and count("WAVES", "5", 3, 1) == 5
