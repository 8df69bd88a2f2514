"""`make compare` as a gate: the largest change first, stages in their order, and an exit code that a script can use.

Strategy: made-up results differ in known values; tables are compared row by row, exit codes against thresholds just
below and above the largest change. Wall times differ too, and must not count. Missing, damaged and older files must end
with code 2 and one line.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pymodels.results import SCHEMA_VERSION, Results, Series, write_results
from tb.ask import compare
from tb.ask.compare import Change, change_table, circumstances, compared, stage_table, threshold
from tests.unit.report.madeup import SIZED, STAGES, results

CURVE = Series((0, 16), (1.0, 2.0), "B", "us")


def pair(tmp_path: Path, one: Results, two: Results) -> list[str]:
    for name, made in (("a", one), ("b", two)):
        write_results(made, tmp_path / name / "results.json")
    return [str(tmp_path / "a"), str(tmp_path / "b" / "results.json")]


def test_the_largest_change_is_listed_first() -> None:
    one = results({"x": 100.0, "y": 10.0, "z": 5.0, "same": 1.0, "zero": 0.0, "wall_s": 1.0}, {"curve": CURVE})
    two = results(
        {"x": 101.0, "y": 8.0, "w": 5.0, "same": 1.0, "zero": 2.0, "wall_s": 9.0},
        {"curve": replace(CURVE, y=(1.0, 2.1))},
    )
    assert change_table(compared(one, two)).rows == (
        ("w", "-", "5", "only in B"),
        ("z", "5", "-", "only in A"),
        ("zero", "0", "2", "from 0"),
        ("y", "10", "8", "-20.00 %"),
        ("curve at 16 B", "2", "2.100", "+5.00 %"),
        ("x", "100", "101", "+1.00 %"),
    )


def test_a_change_from_below_zero_keeps_its_sign() -> None:
    assert Change("x", -2.0, -1.0).share == 0.5
    assert Change("x", 0.0, 0.0).share == 0
    assert math.isinf(Change("x", 0.0, -1.0).share)


def test_stages_keep_their_order_and_add_up() -> None:
    slower = {**STAGES, "stage_us_01_wire_and_switch": 2.5, "stage_us_03_new": 0.5}
    assert stage_table(results(STAGES), results(slower)).rows == (
        ("host", "3.000", "3.000", "+0.000", "+0.00 %"),
        ("wire and switch", "1.500", "2.500", "+1.000", "+20.00 %"),
        ("poll", "0.500", "0.500", "+0.000", "+0.00 %"),
        ("new", "-", "0.500", "+0.500", "+10.00 %"),
        ("together", "5.000", "6.500", "+1.500", "+30.00 %"),
    )
    assert not stage_table(results(STAGES), results(STAGES))
    assert not stage_table(results(SIZED), results(SIZED))


def test_differing_inputs_of_two_runs_are_listed() -> None:
    assert circumstances(results(), replace(results(), seed=4, simulator="verilator")) == [
        "simulator: icarus -> verilator",
        "seed: 3 -> 4",
    ]


def test_differing_settings_are_listed_before_firmware_versions_and_commits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = replace(results({"x": 1.0}), settings={"link.slack": 80, "size": 0}, given=("size",), firmware="python")
    one = replace(one, versions={"numpy": "1"}, commits={"sanlab": "abc"})
    two = replace(one, settings={"size": 64, "messages": 2}, given=("size",), firmware="c", seed=4)
    two = replace(two, versions={"numpy": "2"}, commits={"sanlab": "abc+changes", "mylab": "def"})
    assert circumstances(one, two) == [
        "setting link.slack: 80 -> (absent)",
        "setting messages: (absent) -> 2",
        "setting size: 0 -> 64",
        "firmware: python -> c",
        "seed: 3 -> 4",
        "version of numpy: 1 -> 2",
        "commit of mylab: None -> def",
        "commit of sanlab: abc -> abc+changes",
    ]
    assert compare.main(pair(tmp_path, one, two)) == 0
    said = capsys.readouterr().out
    assert said.index("different setting size: 0 -> 64") < said.index("nothing changed")
    assert "size=64" in said, "settings that were given stand in the line of each result"


@pytest.mark.parametrize(("limit", "code"), [("20.1", 0), ("19.9", 1), ("20.1%", 0), ("", 1)])
def test_the_threshold_decides_the_exit_code(
    limit: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = pair(tmp_path, results({"x": 10.0}), replace(results({"x": 8.0}), wall_s=99.0))
    assert compare.main(["--threshold", limit, *given]) == code
    said = capsys.readouterr().out
    assert f"1 values changed, {code} by more than" in said
    assert "-20.00 %" in said


def test_equal_runs_pass_without_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert compare.main(["--threshold", "0", *pair(tmp_path, results(SIZED), results(SIZED))]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "nothing changed"


def test_results_of_an_older_schema_are_rejected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = pair(tmp_path, results(), results())
    path = tmp_path / "a" / "results.json"
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), "schema": 0}), encoding="utf-8")
    assert compare.main(given) == 2
    said = capsys.readouterr().err
    assert said.endswith(f"has schema 0, this sanlab reads {SCHEMA_VERSION}; run the study again\n")
    assert said.count("\n") == 1


@pytest.mark.parametrize("damage", ["missing", "truncated", "folder"])
def test_an_unreadable_file_is_reported_in_one_line(
    damage: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = pair(tmp_path, results(), results())
    path = tmp_path / "b" / "results.json"
    if damage == "truncated":
        path.write_text(path.read_text(encoding="utf-8")[:-40], encoding="utf-8")
    else:
        path.unlink()
        given[1] = str(path.parent if damage == "folder" else path)
    assert compare.main(given) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert str(path) in said.err
    assert said.err.count("\n") == 1


@pytest.mark.parametrize("text", ["much", "-1", "nan", "inf"])
def test_an_invalid_threshold_is_rejected(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert compare.main([f"--threshold={text}", "a", "b"]) == 2
    assert f"THRESHOLD is {text!r}; give 0 or more" in capsys.readouterr().err
    assert threshold("2.5 %".replace(" ", "")) == 2.5


def test_a_missing_argument_is_rejected(capsys: pytest.CaptureFixture[str]) -> None:
    assert compare.main(["", "b"]) == 2
    assert capsys.readouterr().err == "A: not given: compare needs two results; give A=<results.json or folder>\n"


def swept(folder: Path, axes: str, rows: list[dict[str, Any]]) -> str:
    """Write the table of a sweep with the metric `us`."""
    names = {"axis_names": json.dumps(axes.split()), "metrics": json.dumps(["us"]), "units": "{}"}
    table = pa.Table.from_pylist(rows).replace_schema_metadata(names)
    folder.mkdir()
    pq.write_table(table, folder / "points.parquet")
    return str(folder)


def test_two_sweeps_are_compared_point_by_point(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one: list[dict[str, Any]] = [
        {"hosts": 2, "size": 0, "us": 1.0},
        {"hosts": 4, "size": 0, "us": 2.0},
        {"hosts": 8, "size": 0, "us": 9.0},
    ]
    two: list[dict[str, Any]] = [{"size": 0, "hosts": 4, "us": 3.0}, {"size": 0, "hosts": 2, "us": 1.01}]
    for rows, bus in ((one, 32), (two, 64)):
        for row in rows:
            row |= {"profile": "lanai9", "set.pci.width": bus, "set.size": row["size"]}
    a, b = swept(tmp_path / "a", "hosts size", one), swept(tmp_path / "b", "size hosts", two)
    assert compare.main([a, b]) == 1
    said = capsys.readouterr().out
    lines = [line.split() for line in said.splitlines()]
    assert ["us", "at", "hosts=4", "size=0", "2", "3", "+50.00", "%"] in lines
    assert ["us", "at", "hosts=2", "size=0", "1", "1.010", "+1.00", "%"] in lines
    assert "different set.pci.width: 32 -> 64" in said and "profile" not in said
    assert "different points: 1 only in A, 0 only in B" in said
    assert "2 values changed, 1 by more than 5 %" in said
    assert compare.main(["--threshold=60", a, b]) == 0


@pytest.mark.parametrize(
    ("axes", "rows", "said"),
    [
        ("size", [{"size": 1, "us": 1.0}], "B: other axes: A has hosts, B size; compare sweeps along the same axes"),
        ("hosts", [{"hosts": 8, "us": 1.0}], "B: no common point"),
    ],
)
def test_sweeps_without_a_common_point_are_rejected(
    axes: str, rows: list[dict[str, Any]], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a = swept(tmp_path / "a", "hosts", [{"hosts": 2, "us": 1.0}])
    assert compare.main([a, swept(tmp_path / "b", axes, rows)]) == 2
    assert capsys.readouterr().err.startswith(said)


def test_comparing_a_run_with_a_sweep_is_rejected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a = swept(tmp_path / "s", "hosts", [{"hosts": 2, "us": 1.0}])
    assert compare.main([a, pair(tmp_path, results({"x": 1.0}), results({"x": 1.0}))[0]]) == 2
    assert "a run and a sweep" in capsys.readouterr().err
    (tmp_path / "s" / "points.parquet").write_text("damaged", encoding="utf-8")
    assert compare.main([a, a]) == 2
    assert "sweep unreadable" in capsys.readouterr().err
