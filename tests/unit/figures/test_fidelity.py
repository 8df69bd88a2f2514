"""Quality of each figure: the first recorded value, the value measured today, the cause of a change, and a
judgement.

Strategy: the committed page and the record beside it are compared with `pymodels/published.toml`. A value that is
added, changed or removed without them fails, and so does a changed value without a stated cause. Judgement, order and
the three forms of the page are tested on rows made up with one property each; measurement is tested on made-up runs.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from pymodels.published import Change, Published, load_changes, load_published
from pymodels.published_roles import Role, Scale
from pymodels.results import Kind, Results, ResultsError, write_results
from tb.figures import measured
from tb.figures.fidelity import PAGE, keep, leave
from tb.figures.held_out import committed_calibrations
from tb.figures.intervals import known_intervals
from tb.figures.jobs import KEY, Job, jobs
from tb.figures.measured import measured_runs, measurement, typed
from tb.figures.pages import HEADINGS, TRIVIAL, cells, html, markdown
from tb.figures.record import FILE, Interval, Today, load_record, write_record
from tb.figures.rows import Group, Row, Verdict, glance, of_group, rows
from tb.plan import studies
from tests.unit.report.madeup import results

VALUE = Published(
    "Latency",
    "paper 9, Table 1",
    2.0,
    "us",
    Kind.PREDICTED,
    "echo_pingpong",
    "x",
    "lanai9+p3-450",
    within=0.1,
    first=2.5,
)


def interval(low: float, high: float, measured: float = 2.0, command: str = "make uncertainty") -> Interval:
    """Make an interval of 24 draws."""
    return Interval(low, (low + high) / 2, high, measured, 24, 0, command, "2001-02-03")


NARROW, WIDE, BESIDE = interval(1.9, 2.1), interval(1.0, 3.0), interval(2.1, 2.3)


def row(measured: float = 2.0, interval: Interval | None = None, **changed: Any) -> Row:
    """Make a row with one measured value."""
    return Row(replace(VALUE, **changed), Today(measured, "make run", interval, "c" * 40))


def committed() -> list[Row]:
    """Read the rows committed in the repository."""
    return rows(load_published(), [], load_record(), {})


def ran(
    tmp_path: Path, metrics: Mapping[str, float], study: str = "echo_pingpong", profile: str = "lanai9+p3-450",
    settings: Mapping[str, str] | None = None,
) -> tuple[Job, Results]:  # fmt: skip
    """Make a run of a study with its measured values."""
    job = jobs([study], (), True, "icarus", tmp_path)[0]
    job = replace(job, request=replace(job.request, settings={**job.request.settings, **(settings or {})}))
    return job, replace(results(dict(metrics)), study=study, profile=profile)


def test_committed_page_matches_published_values_and_record() -> None:
    told = markdown(committed(), load_changes(), committed_calibrations())
    assert PAGE.read_text(encoding="utf-8") == told, "run .venv/bin/sanlab fidelity"


def test_every_value_except_quoted_ones_is_measured() -> None:
    without = {row.value.name for row in committed() if row.today is None}
    quoted = {value.name for value in load_published() if value.kind is Kind.QUOTED}
    assert without <= quoted and {value.name for value in load_published() if not value.measurable} <= without
    assert set(load_record()) <= {value.name for value in load_published()}, "the record has values that are gone"


def test_a_figure_that_differs_from_its_first_value_names_a_change() -> None:
    assert [row.value.name for row in committed() if row.moved and not row.value.changed] == []


def test_every_listed_change_is_used_by_a_figure() -> None:
    used = {name for value in load_published() for name in value.changed}
    assert used == set(load_changes())


@pytest.mark.parametrize(
    ("shown", "verdict"),
    [
        (row(2.0, NARROW), Verdict.REPRODUCED),
        (row(2.0, NARROW, kind=Kind.STRUCTURE), Verdict.REPRODUCED),
        (row(2.0, NARROW, kind=Kind.CALIBRATED), Verdict.WITHIN),
        (row(2.0, WIDE), Verdict.WITHIN),
        (row(2.2, BESIDE), Verdict.WITHIN),
        (row(2.0), Verdict.WITHIN),
        (row(2.3, NARROW), Verdict.OUTSIDE),
        (row(2.3, within=[1, 3]), Verdict.WITHIN),
        (Row(VALUE, None), Verdict.NONE),
        (row(2.0, kind=Kind.QUOTED), Verdict.BESIDE),
        (row(2.0, NARROW, role=Role.BOUND), Verdict.MET),
        (row(2.3, role=Role.BOUND), Verdict.MISSED),
    ],
)
def test_judgement_follows_from_agreement_kind_and_interval(shown: Row, verdict: Verdict) -> None:
    assert shown.verdict is verdict


@pytest.mark.parametrize(
    ("measured", "first", "moved"),
    [(2.0, 2.0, False), (2.0, 2.01, False), (2.0, 2.5, True), (2.0, "not recorded: x", False)],
)
def test_a_row_has_moved_if_its_value_differs_from_the_first(measured: float, first: float | str, moved: bool) -> None:
    assert row(measured, first=first).moved == moved


def test_rows_are_sorted_by_role_kind_judgement_and_error() -> None:
    values = [
        replace(VALUE, name="copy", role=Role.DUPLICATE, duplicate_of="near"),
        replace(VALUE, name="limit", role=Role.BOUND),
        replace(VALUE, name="fitted", role=Role.TRAIN, kind=Kind.CALIBRATED),
        replace(VALUE, name="quoted", kind=Kind.QUOTED, within=None, first=None),
        replace(VALUE, name="put in", kind=Kind.INPUT),
        replace(VALUE, name="far", metric="far"),
        replace(VALUE, name="near", metric="near"),
        replace(VALUE, name="rebuilt", kind=Kind.STRUCTURE),
        replace(VALUE, name="sure", metric="far", within=0.5),
    ]
    record = {value.name: Today({"far": 2.4, "near": 2.1}.get(value.metric, 2.0), "make run") for value in values}
    found = rows(values, [], record, {"sure": interval(1.9, 2.1, 2.4)})
    assert [one.value.name for one in found] == [
        *("sure", "near", "far", "rebuilt", "put in", "fitted", "limit", "copy", "quoted")
    ]
    assert all(one.recorded for one in found if one.value.kind is not Kind.QUOTED)


def test_a_run_overrides_the_record_and_keeps_its_interval(tmp_path: Path) -> None:
    run = ran(tmp_path, {"x": 2.0})
    known = replace(WIDE, command=typed(run[0]).replace("run", "uncertainty") + " SAMPLES=24")
    (found,) = rows([VALUE], [run], {"Latency": Today(9.0, "make old", known)}, {})
    assert found.today == Today(2.0, typed(run[0]), known) and not found.recorded


@pytest.mark.parametrize(
    ("changed", "counts"),
    [
        ({}, True),
        ({"command": 'make uncertainty STUDY=a SET="n=2 m=1" SAMPLES=9'}, True),
        ({"command": "make uncertainty STUDY=a SET='m=1'"}, False),
        ({"command": "make uncertainty STUDY=b SET='m=1 n=2'"}, False),
        ({"measured": 2.1}, False),
    ],
)
def test_an_interval_counts_only_for_the_run_around_which_it_was_computed(
    changed: dict[str, Any], counts: bool
) -> None:
    known = replace(interval(1.9, 2.1, command="make uncertainty STUDY=a PROFILE=b SET='m=1 n=2'"), **changed)
    record = {"Latency": Today(2.0, 'make run STUDY=a PROFILE=b SET="m=1 n=2"')}
    (found,) = rows([VALUE], [], record, {"Latency": known})
    assert found.today is not None
    assert (found.today.interval, found.outdated) == ((known, None) if counts else (None, known))


def test_an_ignored_interval_is_reported(tmp_path: Path) -> None:
    console = Console(record=True, width=300)
    leave(tmp_path, [replace(row(), outdated=NARROW), row(name="none")], console)
    assert "Latency: no interval; the known interval belongs to 2 by make uncertainty" in console.export_text()


def test_an_interval_names_its_inputs() -> None:
    known = replace(NARROW, failed=2)
    assert known.made == "24 draws, 2 more failed, 2001-02-03: make uncertainty"
    assert row(interval=known).as_json()["interval_of"] == known.made
    for page in (markdown([row(interval=known)], {}), html([row(interval=known)], {})):
        assert known.made in page
    assert "What intervals were made from" not in markdown([row()], {})


def test_summary_separates_counts_from_quantities_and_compares_equal_rows() -> None:
    structure = row(2.0, NARROW, kind=Kind.STRUCTURE)
    quantities = [row(2.1, NARROW), row(2.2, BESIDE), row(2.5, first=2.2), row(4.0, first="not recorded: x")]
    counts = [row(unit="codes"), row(3.0, unit="codes"), row(unit="B", within=0.0)]
    bounds = [row(role=Role.BOUND), row(9.0, role=Role.BOUND)]
    others = [row(9.0, role=Role.TRAIN), row(role=Role.DEFINITION), row(role=Role.INPUT, kind=Kind.INPUT)]
    told = dict(glance([structure, *quantities, *counts, *bounds, *others]))
    assert told["predicted quantities, within the required agreement"] == "2 of 4"
    assert told["their median error"] == "17.5 %"
    assert told["median error of the 3 with a first value: first, today"] == "25.0 %, 10.0 %"
    assert told["predicted counts, within the required agreement"] == "2 of 3"
    assert told["tests rebuilt for or estimated, within the required agreement"] == "1 of 1"
    assert told["bounds and orders met"] == "1 of 2"
    assert told["tests with an interval, published value inside"] == "2 of 3" and told["reproduced"] == "2"
    assert told["of them"] == "8 predictions, 1 conditioning values, 2 bounds and orders, 2 trivial rows, 0 quoted"


@pytest.mark.parametrize(
    ("scaled", "shown", "error"),
    [
        ({"scored": Scale.GAIN, "value": 1.5}, "gain 0.5, 0.25", 0.5),
        ({"scored": Scale.OVERHEAD, "value": 4.0, "processes": 8}, "overhead 1, 5.400", 4.4),
        ({"scored": Scale.IMPROVEMENT, "value": 25.0}, "% 25, 1.266", 0.9494),
    ],
)
def test_a_ratio_is_scored_without_the_part_that_is_true_for_any_model(
    scaled: dict[str, Any], shown: str, error: float
) -> None:
    found = row(1.25, **scaled)
    told = dict(zip(HEADINGS, cells(found), strict=True))
    assert told["compared"] == shown and found.error == pytest.approx(error, rel=1e-4)
    assert told["error"] == f"{100 * found.error:.1f} %"


def test_required_agreement_of_an_improvement_is_on_the_scale_of_the_paper() -> None:
    assert [row(m, scored=Scale.IMPROVEMENT, value=25.0).verdict for m in (20.0, 25.0)] == [
        *(Verdict.WITHIN, Verdict.OUTSIDE)
    ]


def test_half_bandwidth_is_scored_as_the_rate_at_the_published_size() -> None:
    peak = replace(VALUE, name="peak", value=100.0, metric="peak")
    half = replace(VALUE, name="half", value=900.0, unit="B", sd=9.0, scored=Scale.RATE, peak="peak")
    record = {"peak": Today(110.0, "make run"), "half": Today(300.0, "make run")}
    found = {one.value.name: one for one in rows([half, peak], [], record, {})}["half"]
    assert (found.published, found.on_scale(300.0)) == (50.0, 110 * 900 / 1200)
    assert found.error == pytest.approx(0.65) and found.sd == pytest.approx(9 * 100 / 3600)
    assert dict(zip(HEADINGS, cells(found), strict=True))["compared"] == "MB/s 50, 82.50"
    (alone,) = rows([half], [], record, {})
    assert alone.as_json()["measured_score"] is None, "without a peak there is no rate"


def test_a_bound_is_met_or_not_met_and_has_no_error() -> None:
    found = [row(2.0, role=Role.BOUND), row(9.0, role=Role.BOUND)]
    shown = [dict(zip(HEADINGS, cells(one), strict=True)) for one in found]
    assert [(one["judgement"], one["error"]) for one in shown] == [("met", ""), ("not met", "")]
    assert [one.as_json()["error"] for one in found] == [None, None]
    assert '<span class="bad">not met</span>' in html(found, {})


def test_trivial_rows_are_a_list_of_their_own_with_the_reason_of_each() -> None:
    copy = row(name="copy", role=Role.DUPLICATE, duplicate_of="Latency")
    found = [row(), copy, row(name="rule", role=Role.DEFINITION)]
    assert [one.value.name for one in of_group(found, Group.TRIVIAL)] == ["copy", "rule"]
    page = markdown(found, {})
    before, after = page.split("## Trivial rows")
    listed, _, others = after.partition("\n## ")
    assert "| copy |" not in before + others and "| Latency |" in others and "| Latency |" not in listed
    assert f"| {' | '.join(TRIVIAL)} |" in listed and "| copy | follows from: Latency |" in listed
    assert "| rule | definition |" in listed and "follows from: Latency" in html(found, {})


@pytest.mark.parametrize(
    ("first", "recovered", "shown"),
    [
        (1.5, False, "1.500"),
        (1.5, True, "1.500 (recovered)"),
        ("not recorded: old", False, "not recorded"),
        (None, False, ""),
    ],
)
def test_first_value_is_shown_next_to_the_present_one(first: float | str | None, recovered: bool, shown: str) -> None:
    told = dict(zip(HEADINGS, cells(row(3.0, first=first, recovered=recovered)), strict=True))
    assert (told["first"], told["today"], told["error"], told["judgement"]) == (shown, "3", "50.0 %", "outside")


@pytest.mark.parametrize(
    ("within", "value", "shown"),
    [(0.1, 2.0, "10 %"), (0.0, 2.0, "exactly"), (0.1, 0.0, "exactly"), ([1, 3], 2.0, "1 to 3")],
)
def test_required_agreement_is_shown(within: float | list[float], value: float, shown: str) -> None:
    assert dict(zip(HEADINGS, cells(row(within=within, value=value)), strict=True))["required"] == shown


def test_page_marks_values_outside_and_draws_intervals() -> None:
    page = html([row(2.0, NARROW, name="<good>"), row(3.0, name="miss")], {})
    assert '<span class="good">reproduced</span>' in page and '<span class="bad">outside</span>' in page
    assert page.count('<svg class="interval"') == 1 and "&lt;good&gt;" in page
    assert "published 2, interval 1.900 to 2.100" in page


def test_both_pages_list_the_changes() -> None:
    changes = {"c": Change("a thing", "a reason"), "unused": Change("unused thing", "one")}
    for page in (markdown([row(changed=("c",))], changes), html([row(changed=("c",))], changes)):
        assert "a thing" in page and "a reason" in page and "unused thing" not in page


def test_three_forms_are_written_with_one_row_a_figure(tmp_path: Path) -> None:
    found = [row(2.0, NARROW), Row(replace(VALUE, name="gone"), None)]
    assert leave(tmp_path, found, Console(quiet=True)) == 0
    plain = json.loads((tmp_path / "fidelity.json").read_text(encoding="utf-8"))
    wanted = {"name", "source", "kind", "published", "measured", "first", "low", "high", "within"}
    assert [wanted <= set(one) for one in plain["rows"]] == [True, True]
    assert (plain["rows"][0]["measured"], plain["rows"][0]["low"], plain["rows"][1]["measured"]) == (2.0, 1.9, None)
    assert (tmp_path / "index.html").is_file() and (tmp_path / "fidelity.md").is_file()


@pytest.mark.parametrize(
    ("study", "profile", "metrics"),
    [
        ("grim_pingpong", "lanai9+p3-450", {"x": 3.0}),
        ("echo_pingpong", "lanai4+p2-300", {"x": 3.0}),
        ("echo_pingpong", "lanai9+p3-450", {"y": 3.0}),
    ],
)
def test_run_without_the_value_is_skipped(tmp_path: Path, study: str, profile: str, metrics: dict[str, float]) -> None:
    wrong, right = ran(tmp_path, metrics, study, profile), ran(tmp_path, {"x": 4.0})
    assert measurement(VALUE, [wrong]) is None
    assert measurement(VALUE, [wrong, right]) == (right[0], 4.0)


def test_a_quoted_value_is_shown_with_a_measured_one_on_request(tmp_path: Path) -> None:
    quoted, run = replace(VALUE, kind=Kind.QUOTED, within=None, first=None), ran(tmp_path, {"x": 4.0})
    assert measurement(quoted, [run]) is None
    assert measurement(replace(quoted, shown=True), [run]) == (run[0], 4.0)
    (row,) = rows([replace(quoted, shown=True)], [], {quoted.name: Today(4.0, "make run")}, {})
    told = dict(zip(HEADINGS, cells(row), strict=True))
    assert (told["today"], told["error"], told["judgement"]) == ("4", "", "not judged")


def test_a_value_with_settings_is_measured_by_the_run_that_has_them(tmp_path: Path) -> None:
    plain, fast = ran(tmp_path, {"x": 4.0}), ran(tmp_path, {"x": 3.0}, settings={"host.clock_mhz": "2000"})
    value = replace(VALUE, settings="host.clock_mhz=2000")
    assert measurement(value, [plain, fast]) == (fast[0], 3.0)
    assert measurement(value, [plain]) is None
    assert measurement(VALUE, [plain, fast]) == (plain[0], 4.0)


def test_a_ratio_is_of_two_runs(tmp_path: Path) -> None:
    one, other = ran(tmp_path, {"x": 4.0}), ran(tmp_path, {"y": 8.0}, profile="lanai4+p2-300")
    assert measurement(replace(VALUE, over="y"), [one, other]) == (one[0], 0.5)
    assert measurement(replace(VALUE, over="y"), [one]) is None


def test_command_names_profile_and_settings(tmp_path: Path) -> None:
    (job,) = (job for job in jobs(["grim_policing"], (), False, "icarus", tmp_path) if job.name.endswith("lanai4"))
    assert typed(job) == 'make run STUDY=grim_policing PROFILE=lanai4 SET="limits=3 burst=10000"'


def test_record_survives_a_round_trip(tmp_path: Path) -> None:
    record = {"a": Today(1.5, "make run", NARROW), "b": Today(2.0, "make run")}
    write_record(record, tmp_path / "today.json")
    assert load_record(tmp_path / "today.json") == record
    (tmp_path / "today.json").write_text("{", encoding="utf-8")
    with pytest.raises(ResultsError, match="invalid record of measured values"):
        load_record(tmp_path / "today.json")


def test_intervals_are_read_from_the_files_of_uncertainty(tmp_path: Path) -> None:
    assert known_intervals(tmp_path) == {}
    (tmp_path / "one").mkdir()
    of_row = {"low": 1.0, "median": 2.0, "high": 3.0, "measured": 2.0, "drawn": 24, "failed": 0, "more": 1}
    left = {"command": "make uncertainty", "date": "2001-02-03", "rows": [{"name": "Latency", **of_row}]}
    (tmp_path / "one" / "uncertainty.json").write_text(json.dumps(left), encoding="utf-8")
    assert known_intervals(tmp_path) == {"Latency": WIDE}
    (tmp_path / "one" / "uncertainty.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ResultsError, match="invalid intervals"):
        known_intervals(tmp_path)


def test_the_record_is_written_and_rows_without_a_reason_are_listed(tmp_path: Path) -> None:
    console = Console(record=True, width=300)
    found = [row(2.0), row(2.0, name="still", first=2.0)]
    assert keep(found, console, tmp_path / "page.md", tmp_path / "today.json") == 0
    assert set(load_record(tmp_path / "today.json")) == {"Latency", "still"}
    said = console.export_text()
    assert "Latency: 2.500 at first, 2 today, without a reason in `changed`" in said and "still" not in said
    with pytest.raises(ResultsError, match="values without a measurement: gone"):
        keep([Row(replace(VALUE, name="gone"), None)], console, tmp_path / "page.md", tmp_path / "none.json")
    assert not (tmp_path / "none.json").exists()


def test_values_of_uncommitted_sources_are_not_recorded(tmp_path: Path) -> None:
    uncommitted = Row(VALUE, Today(2.0, "make run"))
    with pytest.raises(ResultsError, match="Latency was measured with uncommitted sources; commit"):
        keep([uncommitted], Console(quiet=True), tmp_path / "page.md", tmp_path / "today.json")
    assert list(tmp_path.iterdir()) == []


def test_a_run_names_its_commit_and_a_recorded_value_keeps_its_own(tmp_path: Path) -> None:
    run, record = ran(tmp_path, {"x": 2.0}), {"Latency": Today(9.0, "make old", None, "a" * 40)}
    commits = [rows([VALUE], runs, record, {}, "b" * 40)[0].as_json()["commit"] for runs in ([run], [])]
    assert commits == ["b" * 40, "a" * 40]


def test_results_of_other_sources_are_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measured, "FIGURES", tmp_path)
    monkeypatch.setattr(studies, "names", lambda: ["echo_pingpong"])
    (job,) = jobs(["echo_pingpong"], (), False, "verilator", tmp_path)
    write_results(results({"x": 2.0}), Path(job.request.folder) / "results.json")
    taken = []
    for key in ("key of older sources", job.key):
        (Path(job.request.folder) / KEY).write_text(key, encoding="utf-8")
        taken.append(len(measured_runs()))
    assert taken == [0, 1]


def test_error_of_an_unmeasured_value_is_infinite() -> None:
    assert math.isinf(Row(VALUE, None).error)
    assert FILE.suffix == ".json", "a TOML file here would count as a source of every result"
