"""First part of the page of fidelity: held-out predictions, the null model, and a picture of each family.

Strategy: made-up rows have one other system, several, or none, and made-up calibrations in the format of `make
calibrate`. The choice of the other system, the medians and the text of the pictures are compared with what was put in.
The committed rows are checked for what must hold of them: values of other systems belong to rows.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from pymodels.errors import ConfigError
from pymodels.published import load_published
from pymodels.published_roles import Role, Scale
from pymodels.results import Kind, ResultsError
from tb.figures import fidelity, held_out, nearest
from tb.figures.family_pictures import bounds, html_pictures, members, text_pictures
from tb.figures.fidelity import leave
from tb.figures.held_out import committed_calibrations, known_calibrations, uncalibrated
from tb.figures.nearest import load_others, null_model, predictions, quantity, system
from tb.figures.pages import html, markdown
from tb.figures.record import Interval, Today, load_record
from tb.figures.rows import Row, glance, rows
from tb.figures.summary import comparison, evidence, missing, nearest_table
from tb.tools.paths import ROOT
from tests.unit.figures.madeup import VALUE, calibration, read, row


def other(value: float, name: str, **changed: Any) -> Row:
    """Make a row of another system that measures the same quantity."""
    return row(value, **{"name": name, "value": value, "metric": "time_lanai4", "role": Role.TRAIN, **changed})


def chosen(found: Sequence[Row]) -> list[str]:
    """Return the other system of each prediction, or an empty list without one."""
    return [one.system for one in null_model(found).values()]


def test_the_other_system_is_of_the_same_quantity_and_paper() -> None:
    near = other(3.0, "A on LANai 4")
    assert chosen([row(), near]) == ["A on LANai 4"]
    assert null_model([row(), near])[VALUE.name].error == 0.5
    for changed in ({"unit": "B"}, {"study": "another"}, {"metric": "rate_lanai4"}, {"source": "paper 8, Table 1"}):
        assert chosen([row(), other(3.0, "A on LANai 4", **changed)]) == []


@pytest.mark.parametrize("role", [Role.BOUND, Role.DEFINITION, Role.DUPLICATE])
def test_a_row_that_agrees_by_construction_is_no_other_system(role: Role) -> None:
    copied = {"duplicate_of": "A"} if role is Role.DUPLICATE else {}
    assert chosen([row(), other(3.0, "A on LANai 4", role=role, **copied)]) == []


def test_a_row_of_the_same_system_is_no_other_system() -> None:
    assert chosen([row(), other(3.0, "A again on LANai 9")]) == []


def test_of_several_other_systems_the_one_that_shares_most_is_chosen_whatever_its_value() -> None:
    far = other(2.0, "A on LANai 4", family="grim")
    apart_ = other(2.0, "A on LANai 5", profile="sp")
    near = other(90.0, "A on LANai 7")
    for order in ([far, apart_, near], [near, far, apart_]):
        assert chosen([row(), *order]) == ["A on LANai 7"]
    assert chosen([row(), far, apart_]) == ["A on LANai 5"], "the family counts more than the profile"
    assert chosen([row(), replace(near, value=replace(near.value, name="A on LANai 8")), near]) == ["A on LANai 7"]


def test_a_printed_value_of_a_system_without_a_model_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "others.toml"
    entry = f'[[value]]\nrow = "{VALUE.name}"\nvalue = 4.0\nsystem = "Ethernet"\nsource = "paper 9, 1.2"\n'
    file.write_text(entry, encoding="utf-8")
    monkeypatch.setattr(nearest, "load_others", lambda: load_others(file))
    found = null_model([row(), other(3.0, "A on LANai 4")])[VALUE.name]
    assert (found.system, found.source, found.error) == ("Ethernet", "paper 9, 1.2", 1.0)
    file.write_text(entry.replace("system", "where"), encoding="utf-8")
    with pytest.raises(ConfigError, match="invalid value of another system"):
        load_others(file)


def test_the_other_value_is_scored_like_the_row() -> None:
    gain: dict[str, Any] = {"scored": Scale.GAIN, "value": 1.5, "unit": "times"}
    found = null_model([row(**gain), other(2.0, "A on LANai 4", unit="times")])
    assert found[VALUE.name].error == pytest.approx(1.0), "a gain of 1 instead of 0.5"
    percent: dict[str, Any] = {"scored": Scale.IMPROVEMENT, "value": 20.0, "unit": "%"}
    found = null_model([row(**percent), other(30.0, "A on LANai 4", unit="%")])
    assert found[VALUE.name].error == pytest.approx(0.5), "both are printed as improvements"
    rate: dict[str, Any] = {"scored": Scale.RATE, "unit": "B", "peak": "peak"}
    assert chosen([row(**rate), other(2.0, "A on LANai 4", unit="B")]) == []


def test_values_of_other_systems_belong_to_predictions() -> None:
    known = {value.name: value for value in load_published()}
    assert set(load_others()) <= {name for name, value in known.items() if value.role is Role.TEST}
    quantities = {(value.study, nearest.IN_METRIC.sub("", value.metric)) for value in known.values()}
    assert set(nearest.QUANTITIES) <= quantities
    found = rows(load_published(), [], load_record(), {})
    told = null_model(found)
    assert len(told) >= 20 and all(one.error < 100 for one in told.values())
    for name, one in told.items():
        assert known[name].name != one.system
        if one.system in known:
            assert quantity(known[name]) == quantity(known[one.system])
            assert system(known[name]) != system(known[one.system])


def test_medians_and_coverage_are_of_the_same_rows(tmp_path: Path) -> None:
    found = [row(2.2), other(3.0, "A on LANai 4"), row(2.8, name="alone", metric="other", family="grim")]
    known = evidence(found, read(tmp_path, calibration(), calibration("grim", "alone", 2.0, 1.6, 1.7)))
    table = {line[0]: line[1:] for line in comparison(known).rows}
    assert table["of them predictions"] == table["held-out rows"]
    assert table["held-out rows"] == ("2", "1 of 2", "25.0 %", "15.0 %", "25.0 %", "-")
    assert table["of them with a value of another system"] == ("1", "1 of 1", "40.0 %", "10.0 %", "10.0 %", "50.0 %")
    assert table["predicted, with a value of another system"] == ("1", "1 of 1", "40.0 %", "10.0 %", "10.0 %", "50.0 %")
    assert table["all predictions of quantities"][0] == "2"
    assert nearest_table(known).rows[0][3:] == ("3", "50.0 %", "10.0 %")


def test_held_out_conditioning_rows_are_counted_apart_from_predictions(tmp_path: Path) -> None:
    found = [row(2.2), row(2.8, name="conditions", role=Role.TRAIN, family="grim")]
    known = evidence(found, read(tmp_path, calibration(), calibration("grim", "conditions", 2.0, 1.6, 1.7)))
    table = {line[0]: line[1:] for line in comparison(known).rows}
    assert table["held-out rows"][:2] == ("2", "1 of 2") and table["of them predictions"][:2] == ("1", "1 of 1")


def test_times_and_bandwidths_are_counted_apart_from_counts_and_ratios(tmp_path: Path) -> None:
    gain: dict[str, Any] = {"unit": "times", "scored": Scale.GAIN, "value": 3.0}
    found = [
        row(2.2),
        row(2.4, name="rate", unit="MB/s", role=Role.TRAIN),
        row(2.5, name="count", unit="messages"),
        row(2.6, name="gain", **gain),
    ]
    files = calibration(), calibration("grim", "rate", best=2.4), calibration("am2", "count", best=8.0)
    changed = [replace(one, value=replace(one.value, family=name)) for one, name in zip(
        found, ("firmvia", "grim", "am2", "bvia"), strict=True)]  # fmt: skip
    known = evidence(changed, read(tmp_path, *files, calibration("bvia", "gain", best=9.0)))
    table = {line[0]: line[1:] for line in comparison(known).rows}
    assert table["held-out rows"][0] == "4"
    assert table["of them times and bandwidths"] == ("2", "2 of 2", "40.0 %", "15.0 %", "15.0 %", "-")
    predicted = table["of them times and bandwidths that are predictions"]
    assert predicted == ("1", "1 of 1", "40.0 %", "10.0 %", "10.0 %", "-")


def test_a_group_with_a_row_without_an_interval_has_no_width(tmp_path: Path) -> None:
    known = evidence([row(), row(name="alone")], read(tmp_path, calibration()))
    table = {line[0]: line[1:] for line in comparison(known).rows}
    assert table["all predictions of quantities"][:3] == ("2", "-", "-")
    assert table["held-out rows"][:3] == ("1", "1 of 1", "40.0 %")


def test_without_a_calibration_the_page_names_families_and_commands() -> None:
    found = [row(), other(3.0, "A on LANai 4", family="grim"), row(name="alone", metric="other")]
    known = evidence(found, {})
    assert uncalibrated(found, {}) == ["grim"], "a family without conditioning rows cannot be calibrated"
    first, second = missing(known)
    assert "without held-out predictions: grim." in first and "`make calibrate FAMILY=grim`" in first
    assert second == "Predictions without a published value of another system (1): alone."
    for page in (markdown(found, {}), html(found, {})):
        assert "make calibrate FAMILY=grim" in page and "alone" in page
    assert comparison(known).rows[0] == ("held-out rows", "0", "-", "-", "-", "-", "-")


def test_a_prediction_of_another_published_value_is_ignored(tmp_path: Path) -> None:
    known = evidence([row()], read(tmp_path, calibration(published=1.9)))
    assert known.held == {} and known.calibrations.keys() == {"firmvia"}


def test_a_calibration_of_this_machine_replaces_the_committed_one(tmp_path: Path) -> None:
    (tmp_path / "committed").mkdir()
    for name in ("firmvia", "grim"):
        text = json.dumps(calibration(name, best=1.0))
        (tmp_path / "committed" / f"{name}.json").write_text(text, encoding="utf-8")
    read(tmp_path / "own", calibration())
    found = known_calibrations(tmp_path / "own", tmp_path / "committed")
    assert {name: one.rows[VALUE.name].best for name, one in found.items()} == {"firmvia": 2.2, "grim": 1.0}
    assert committed_calibrations(tmp_path / "committed").keys() == {"firmvia", "grim"}


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"schema": 1}, "calibration of another version: .*grim.json: schema is 1, but this version reads 2"),
        ({"schema": None}, "calibration of another version: .*grim.json: schema is None, but this version reads 2"),
        ({"waves": []}, "invalid calibration: .*grim.json: list index out of range"),
        ({"values": {"key": {}}}, "invalid calibration: .*grim.json: 'posterior'"),
        ({"rows": [{}]}, "invalid calibration: .*grim.json: 'name'"),
        ({"default": None}, "invalid calibration: .*grim.json"),
        ({"skipped": []}, "invalid calibration: .*grim.json"),
        ({"points": "many"}, "invalid calibration: .*grim.json: invalid literal"),
    ],
)
def test_a_calibration_of_another_schema_or_without_a_key_is_rejected(
    tmp_path: Path, changed: dict[str, Any], text: str
) -> None:
    plain = {**calibration("grim"), **changed}
    (tmp_path / "grim.json").write_text(json.dumps(plain), encoding="utf-8")
    with pytest.raises(ResultsError, match=f"{text}.*; run make calibrate again"):
        committed_calibrations(tmp_path)
    (tmp_path / "grim.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ResultsError, match="invalid calibration: .*grim.json: 'schema'; run make calibrate again"):
        committed_calibrations(tmp_path)


def test_the_page_shows_held_out_prediction_and_what_decides_it(tmp_path: Path) -> None:
    known = read(tmp_path, calibration())
    for page in (markdown([row()], {}, known), html([row()], {}, known)):
        assert "held out 2.200 us (1.500 to 2.300), published inside" in page
        assert "decided by key0 0.50, key1 0.40, key2 0.30" in page and "key3" not in page
        assert page.index("1 of 1") < page.index("Families") < page.index("held out 2.200") < page.index("All rows")
    drawn = html([row()], {}, known)
    assert 'data-heading="ratio 0.5 to 2"' in drawn, "on a phone the heading with the axis is hidden"
    assert drawn.count('<svg class="strip"') == 2 and 'fill="var(--fill)"' in drawn


def test_a_picture_has_the_interval_of_uncertainty_where_no_row_is_held_out() -> None:
    beside = Interval(1.9, 2.0, 2.4, 2.0, 24, 0, "make uncertainty", "2001-02-03")
    plain = "\n".join(text_pictures(evidence([row()], {})))
    drawn = "\n".join(text_pictures(evidence([replace(row(), today=Today(2.0, "make run", beside))], {})))
    assert "=" not in plain and "=" in drawn and "o" in plain.split("450")[-1]


def test_families_have_pictures_of_their_measured_rows_and_a_count_of_bounds() -> None:
    found = [
        row(),
        row(name="met", role=Role.BOUND),
        row(9.0, name="missed", role=Role.BOUND),
        row(name="quoted", kind=Kind.QUOTED, within=None, first=None),
        row(name="copy", role=Role.DUPLICATE, duplicate_of=VALUE.name),
        Row(replace(VALUE, name="unmeasured"), None),
    ]
    known = evidence(found, {})
    assert {name: [one.value.name for one in rows] for name, rows in members(known).items()} == {
        "firmvia": [VALUE.name]
    }
    assert bounds(known, "firmvia") == "Bounds and orders met: 1 of 2; not met: missed."
    for lines in (text_pictures(known), html_pictures(known)):
        text = "\n".join(lines)
        assert "1 of 2; not met: missed" in text and "copy" not in text and "quoted" not in text


def test_lines_of_the_committed_pictures_fit_into_a_page() -> None:
    known = evidence(rows(load_published(), [], load_record(), {}), {})
    drawn = list(text_pictures(known))
    assert max(map(len, drawn)) <= 120
    assert sum(line.startswith("### ") for line in drawn) == len(members(known)) >= 6
    named = sum(len(rows) for rows in members(known).values())
    assert named == sum(one.group.value in ("Predictions", "Conditioning values") and one.today is not None
                        for one in known.rows)  # fmt: skip


def test_the_first_page_of_the_repository_quotes_today_s_numbers() -> None:
    known = evidence(rows(load_published(), [], load_record(), {}), committed_calibrations())
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    number, _, _, _, today, null = next(one[1:] for one in comparison(known).rows if one[0].startswith("predicted"))
    assert f"all {len(known.rows)} published values" in text
    assert f"predicted quantities is {dict(glance(known.rows))['their median error']}." in text
    assert f"For {number} of them the papers print" in text
    assert f"which is {null} off in the median; the model is {today} off" in text
    inside, width, error = next(one[2:5] for one in comparison(known).rows if one[0] == "held-out rows")
    assert f"{inside} held-out values lie inside their interval of 90 %" in text
    assert f"It spans {width} of the value in the median, and the best estimate is {error} off." in text


def test_programs_get_held_out_predictions_and_other_systems(tmp_path: Path) -> None:
    found = [row(2.2), other(3.0, "A on LANai 4")]
    assert leave(tmp_path / "out", found, Console(quiet=True), read(tmp_path, calibration())) == 0
    plain = json.loads((tmp_path / "out" / "fidelity.json").read_text(encoding="utf-8"))
    first, second = plain["rows"]
    assert first["held_out"] == {
        "best": 2.2,
        "low": 1.5,
        "high": 2.3,
        "inside": True,
        "width": pytest.approx(0.4),
        "ranks": {"key0": 0.5, "key1": 0.4, "key2": 0.3},
    }
    assert first["nearest"] == {"system": "A on LANai 4", "source": "paper 9, Table 1", "value": 3.0}
    assert (second["held_out"], second["nearest"], first["miss"]) == (None, None, None)
    assert plain["comparison"][0]["rows"] == "held-out rows" and plain["comparison"][0]["median width"] == "40.0 %"
    assert "held out 2.200" in (tmp_path / "out" / "fidelity.md").read_text(encoding="utf-8")


def test_the_command_reads_the_calibrations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fidelity, "measured_runs", list)
    monkeypatch.setattr(fidelity, "known_intervals", dict)
    (peak,) = (one for one in load_published() if one.name == "FirmVIA, peak bandwidth")
    read(tmp_path, calibration("firmvia", peak.name, peak.value, 100.0, 110.0))
    monkeypatch.setattr(fidelity, "known_calibrations", lambda: known_calibrations(tmp_path))
    assert fidelity.main([f"--out={tmp_path / 'out'}"]) == 0
    assert "held out 100 MB/s" in (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert held_out.COMMITTED.parent.is_dir() and predictions([row()]) != []
