"""`results.json`: written atomically, read strictly, compared by the rules of section 8 of the design.

Strategy: random results must come back from the file equal. A full disk and a kill are imitated by a failure of each
step of the write; afterwards the old file must be unchanged, with no half-written file beside it. Each broken file is
read and the whole message compared. Two runs are compared after changing one value of each kind.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pymodels.results import (
    Comparison,
    Cost,
    Kind,
    Results,
    ResultsError,
    Series,
    compare,
    differences,
    read_results,
    write_results,
)
from tests.patience import PATIENCE_S, wait_for

NUMBERS = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
EXAMPLE = Results(
    study="grim_pingpong",
    simulator="verilator",
    seed=1,
    cluster={"name": "two", "hosts": ["paris", "metz"]},
    profile="lanai9+p3-450",
    sim_time_ns=1000,
    wall_s=0.5,
    metrics={"one_way_us_0B": 8.0, "wall_share": 0.3},
    series={"latency": Series((0, 64), (8.0, 9.5), "B", "us")},
    published=(compare("PIO write", "paper 001, Table 2.1", 0.5, 0.25, Kind.INPUT),),
    cost=Cost(100, 10, 0.1, 0.2, 5, 0.4),
    settings={"link.slack": 80, "run.always_on": 0, "size": 64},
    given=("size",),
    firmware="python",
    versions={"sanlab": "0.1.0", "simulator": "Verilator 5.048"},
    commits={"sanlab": "abc"},
    wall_begun="2001-02-03T04:05:06Z",
    warnings=("link.slack: no effect",),
)


def test_results_survive_a_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "new" / "results.json"
    write_results(EXAMPLE, path)
    assert read_results(path) == EXAMPLE
    assert [p.name for p in path.parent.iterdir()] == ["results.json"]


@given(
    metrics=st.dictionaries(st.text(max_size=8), NUMBERS, max_size=5),
    x=st.lists(NUMBERS, max_size=4).map(tuple),
    measured=st.none() | NUMBERS,
    kind=st.sampled_from(Kind),
)
def test_random_results_survive_a_round_trip(
    tmp_path_factory: pytest.TempPathFactory,
    metrics: dict[str, float],
    x: tuple[float, ...],
    measured: float | None,
    kind: Kind,
) -> None:
    row = Comparison("a", "b", 1.5, measured, None, kind)
    results = replace(EXAMPLE, metrics=metrics, series={"s": Series(x, x, "B", "us")}, published=(row,))
    path = tmp_path_factory.mktemp("r") / "results.json"
    write_results(results, path)
    read = read_results(path)
    assert read == results
    assert differences(read, results) == []


def test_file_has_the_agreed_shape(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    write_results(EXAMPLE, path)
    plain = json.loads(path.read_text(encoding="utf-8"))
    assert set(plain) == {
        *("schema", "study", "simulator", "seed", "cluster", "profile", "sim_time_ns", "wall_s"),
        *("metrics", "series", "published", "cost"),
        *("settings", "given", "firmware", "versions", "commits", "wall_begun", "warnings"),
    }
    assert plain["published"] == [
        {
            "name": "PIO write",
            "source": "paper 001, Table 2.1",
            "published": 0.5,
            "measured": 0.25,
            "ratio": 0.5,
            "kind": "input",
            "first": None,
        }
    ]
    assert plain["series"]["latency"] == {"x": [0, 64], "y": [8.0, 9.5], "x_unit": "B", "y_unit": "us"}
    assert plain["cost"] == {
        "cycles": 100,
        "python_wakes": 10,
        "wall_rtl_s": 0.1,
        "wall_python_s": 0.2,
        "messages": 5,
        "python_share": 0.4,
    }


def test_ratio_of_an_unmeasured_value_is_none() -> None:
    assert compare("a", "b", 2.0, None, Kind.QUOTED).ratio is None
    assert compare("a", "b", 0.0, 3.0, Kind.PREDICTED).ratio is None
    assert compare("a", "b", 2.0, 3.0, Kind.PREDICTED).ratio == 1.5


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    path = tmp_path / "results.json"
    write_results(EXAMPLE, path)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr({"fsync": os, "replace": Path}[step], step, full)
    with pytest.raises(ResultsError) as error:
        write_results(replace(EXAMPLE, seed=2), path)
    assert str(error.value) == (
        f"results not written: {path}: No space left on device; free space or correct the rights, and run again"
    )
    monkeypatch.undo()
    assert read_results(path) == EXAMPLE
    assert [p.name for p in tmp_path.iterdir()] == ["results.json"]


def test_kill_in_the_middle_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    write_results(EXAMPLE, path)
    script = (
        "import os, pathlib, time\nfrom pymodels.results import write_atomically\n"
        f"os.fsync = lambda _: (pathlib.Path({str(tmp_path / 'reached')!r}).touch(), time.sleep({PATIENCE_S}))\n"
        f"write_atomically(pathlib.Path({str(path)!r}), 'half')\n"
    )
    writer = subprocess.Popen([sys.executable, "-c", script], cwd=Path(__file__).parents[3])
    wait_for((tmp_path / "reached").exists, "the file to be written")
    writer.send_signal(signal.SIGKILL)
    assert writer.wait() == -signal.SIGKILL
    assert read_results(path) == EXAMPLE


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_number_that_is_not_finite_is_rejected(tmp_path: Path, value: float) -> None:
    path = tmp_path / "results.json"
    with pytest.raises(ResultsError) as error:
        write_results(replace(EXAMPLE, metrics={"bandwidth_MBps": value}), path)
    text = f"results not written: metrics/bandwidth_MBps is {value}; a result is a finite number; leave it out"
    assert str(error.value) == text
    assert not path.exists()


def test_missing_file_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    with pytest.raises(ResultsError) as error:
        read_results(path)
    assert str(error.value) == f"no results: {path}: No such file or directory; run the study first"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "",
            "results unreadable: {} is truncated or no JSON (Expecting value: line 1 column 1 (char 0)); "
            "run the study again",
        ),
        (
            '{"schema": 3, "study"',
            "results unreadable: {} is truncated or no JSON (Expecting ':' delimiter: line 1 column 22 (char 21)); "
            "run the study again",
        ),
        ("[]", "results of another version: {} has no schema; run the study again"),
        ("{}", "results of another version: {} has no schema; run the study again"),
        (
            '{"schema": 0}',
            "results of another version: {} has schema 0, this sanlab reads 3; run the study again",
        ),
        ('{"schema": 3}', "results incomplete: {}: 'study' is missing; run the study again"),
    ],
)
def test_broken_file_is_an_error(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "results.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ResultsError) as error:
        read_results(path)
    assert str(error.value) == message.format(path)


def test_every_field_of_the_results_is_required(tmp_path: Path) -> None:
    plain = EXAMPLE.as_json()
    path = tmp_path / "results.json"
    for part in plain:
        path.write_text(json.dumps({k: v for k, v in plain.items() if k != part}), encoding="utf-8")
        with pytest.raises(ResultsError):
            read_results(path)


def test_unknown_kind_is_rejected(tmp_path: Path) -> None:
    plain = EXAMPLE.as_json()
    plain["published"][0]["kind"] = "guessed"
    path = tmp_path / "results.json"
    path.write_text(json.dumps(plain), encoding="utf-8")
    with pytest.raises(ResultsError) as error:
        read_results(path)
    text = f"results incomplete: {path}: 'guessed' is not a valid Kind; run the study again"
    assert str(error.value) == text


def test_wall_times_may_differ_between_any_two_runs() -> None:
    cost = replace(EXAMPLE.cost, wall_rtl_s=9.0, wall_python_s=9.0, python_share=0.9)
    other = replace(EXAMPLE, wall_s=9.0, cost=cost, metrics={**EXAMPLE.metrics, "wall_share": 0.9})
    assert differences(EXAMPLE, other) == []


def test_cost_and_simulator_may_differ_between_simulators_only() -> None:
    other = replace(EXAMPLE, simulator="icarus", cost=replace(EXAMPLE.cost, cycles=7))
    assert differences(EXAMPLE, other, same_simulator=False) == []
    assert differences(EXAMPLE, other) == ["cost/cycles: 100 != 7", "simulator: 'verilator' != 'icarus'"]


def test_machines_checkouts_and_settings_of_the_run_alone_may_differ() -> None:
    on = {**EXAMPLE.settings, "run.always_on": 1}
    other = replace(EXAMPLE, versions={"python": "3.10.1"}, commits={}, settings=on, given=("run.always_on", "size"))
    assert differences(EXAMPLE, other) == []
    assert differences(EXAMPLE, replace(EXAMPLE, wall_begun="1999-01-01T00:00:00Z")) == []


@pytest.mark.parametrize(
    ("other", "found"),
    [
        (replace(EXAMPLE, settings={**EXAMPLE.settings, "size": 65}), "settings/size: 64 != 65"),
        (replace(EXAMPLE, firmware="c"), "firmware: 'python' != 'c'"),
        (replace(EXAMPLE, seed=2), "seed: 1 != 2"),
        (replace(EXAMPLE, sim_time_ns=1001), "sim_time_ns: 1000 != 1001"),
        (
            replace(EXAMPLE, metrics={"one_way_us_0B": 8.000000000000002, "wall_share": 0.3}),
            "metrics/one_way_us_0B: 8.0 != 8.000000000000002",
        ),
        (replace(EXAMPLE, metrics={**EXAMPLE.metrics, "more": 1}), "metrics/more: 'nothing' != 1"),
        (
            replace(EXAMPLE, series={"latency": Series((0, 64), (8.0, 9.6), "B", "us")}),
            "series/latency/y/1: 9.5 != 9.6",
        ),
        (replace(EXAMPLE, cluster={"name": "two", "hosts": ["paris", "lyon"]}), "cluster/hosts/1: 'metz' != 'lyon'"),
    ],
)
def test_all_other_fields_must_agree(other: Results, found: str) -> None:
    assert differences(EXAMPLE, other, same_simulator=False) == [found]
