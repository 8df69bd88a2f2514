"""A sweep from points to table: no point runs twice, a failed point is retried and reported, a kill loses no result.

Strategy: the real Dask runs on a local cluster, and the real command. A point, however, is a function of the test that
counts its calls, fails or stops the sweep as prescribed. The Parquet table is read back by pyarrow. A scheduler is a
closed port, or a real one without workers.
"""

from __future__ import annotations

import csv
import importlib
import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from pymodels.results import Series
from tb.build.travel import Parcel
from tb.report.figure import LIGHT
from tb.report.page import CSS
from tb.report.units import unit_of
from tb.sweep import cache, farm, plot, run
from tb.sweep.axes import Axis
from tb.sweep.points import Point
from tb.sweep.table import Cell, shown
from tb.sweep.work import Done
from tests.patience import PATIENCE_S
from tests.unit.report.madeup import results

CALLS: Counter[str] = Counter()
TROUBLE: dict[str, int] = {}
"""Number of failures before the first success, by place."""


def made_up(point: Point) -> Done:
    """Run a point without a simulator: one metric that follows from its axes."""
    CALLS[point.name] += 1
    if CALLS[point.name] <= TROUBLE.get(point.name, 0):
        return Done(failures=("it broke",))
    size = int(point.settings.get("repetitions", "0"))
    curve = Series((0, 1), (float(size), 2.0), "B", "us")
    found = results({"us": 2.0 * size, "same": 1.0, "wall_x": float(CALLS[point.name])}, {"curve": curve})
    found = replace(found, settings={"repetitions": size, "run.host": "", "flag": bool(size)}, given=("repetitions",))
    found = replace(found, firmware="c", versions={"numpy": "2"}, commits={"sanlab": "abc"})
    return Done(results=json.dumps(found.as_json()), seconds=2.5)


@pytest.fixture(autouse=True)
def fixture_fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin with no calls, an empty cache and no simulator."""
    CALLS.clear()
    TROUBLE.clear()
    monkeypatch.setattr(cache, "FOLDER", tmp_path / "cache")
    monkeypatch.setattr(run, "run_point", made_up)
    monkeypatch.setattr(run, "parcel", lambda point: Parcel("a build", "no machine of ours", {}))


def sweep(tmp_path: Path, axes: str, *more: str) -> int:
    return run.main(["echo_pingpong", "--axes", axes, "--workers", "2", "--out", str(tmp_path / "out"), *more])


def test_every_point_has_its_row(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sweep(tmp_path, "repetitions=1:3 seed=5,6") == 0
    table = pq.read_table(tmp_path / "out" / "points.parquet")
    told = table.to_pydict()
    assert told["repetitions"] == [1, 1, 2, 2, 3, 3]
    assert told["seed"] == [5, 6] * 3
    assert told["us"] == [2.0, 2.0, 4.0, 4.0, 6.0, 6.0]
    assert told["curve.y"][-1] == [3.0, 2.0]
    assert told["passed"] == [1] * 6
    assert told["set.repetitions"] == [1, 1, 2, 2, 3, 3]
    assert told["set.run.host"] == [""] * 6 and told["set.flag"] == [1] * 6
    assert {name: told[name][0] for name in ("given", "firmware", "version.numpy", "commit.sanlab", "cluster")} == {
        "given": "repetitions",
        "firmware": "c",
        "version.numpy": "2",
        "commit.sanlab": "abc",
        "cluster": "two_hosts",
    }
    assert table.schema.metadata[b"points"] == b"6 of 6"
    assert (tmp_path / "out" / "points.svg").read_text(encoding="utf-8").startswith("<?xml")
    said = capsys.readouterr().out
    assert "6 of 6 points, 0 known, 0 failed, 0 tried again" in said
    assert re.search(r" s on 2 workers, efficiency \d+\.\d\d$", said, re.MULTILINE)
    assert ["repetitions", "seed", "us"] in [line.split() for line in said.splitlines()]


def test_a_known_point_is_not_repeated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sweep(tmp_path, "repetitions=1,2") == 0
    assert sweep(tmp_path, "repetitions=2,3") == 0
    assert {f"repetitions={n}": 1 for n in (1, 2, 3)} == CALLS
    assert "2 of 2 points, 1 known" in capsys.readouterr().out


def test_efficiency_is_the_time_of_the_runs_over_that_of_all_workers() -> None:
    swept = run.Sweep([], cache.Cache())
    assert swept.efficiency(10.0) == ""
    swept.threads, swept.worked_s = 4, 36.0
    assert swept.efficiency(10.0) == " on 4 workers, efficiency 0.90"


def test_a_sweep_without_runs_has_no_efficiency(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sweep(tmp_path, "repetitions=1") == 0
    capsys.readouterr()
    assert sweep(tmp_path, "repetitions=1") == 0
    assert "efficiency" not in capsys.readouterr().out


def test_a_point_with_a_damaged_result_is_repeated(tmp_path: Path) -> None:
    assert sweep(tmp_path, "repetitions=1") == 0
    (file,) = (tmp_path / "cache").rglob("*.json")
    file.write_text(file.read_text(encoding="utf-8")[:-30], encoding="utf-8")
    assert sweep(tmp_path, "repetitions=1") == 0
    assert CALLS["repetitions=1"] == 2


def test_a_failed_point_is_tried_again_and_reported_if_it_fails_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    TROUBLE.update({"repetitions=1": 1, "repetitions=2": 9})
    assert sweep(tmp_path, "repetitions=1:3") == 1
    assert CALLS == {"repetitions=1": 2, "repetitions=2": 2, "repetitions=3": 1}
    said = capsys.readouterr().out
    assert "failed: repetitions=2: it broke" in said
    assert "3 of 3 points, 0 known, 1 failed, 2 tried again" in said
    told = pq.read_table(tmp_path / "out" / "points.parquet").to_pydict()
    assert told["us"] == [2.0, None, 6.0]
    assert told["failure"] == [None, "it broke", None]
    TROUBLE.clear()
    assert sweep(tmp_path, "repetitions=1:3") == 0
    assert CALLS["repetitions=3"] == 1


def test_an_interrupted_sweep_continues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    keep = cache.Cache.keep

    def interrupted(self: cache.Cache, point: Point, text: str) -> object:
        kept = keep(self, point, text)
        raise KeyboardInterrupt if len(CALLS) else AssertionError(kept)

    monkeypatch.setattr(cache.Cache, "keep", interrupted)
    assert sweep(tmp_path, "repetitions=1:4", "--workers", "1") == 130
    assert "repeat the command to continue" in capsys.readouterr().err
    done = len(list((tmp_path / "cache").rglob("*.json")))
    assert done == 1
    monkeypatch.setattr(cache.Cache, "keep", keep)
    assert sweep(tmp_path, "repetitions=1:4") == 0
    assert "4 of 4 points, 1 known" in capsys.readouterr().out


def test_a_full_disk_is_reported_in_one_line_without_a_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "cache").write_text("a file where a folder must be", encoding="utf-8")
    assert sweep(tmp_path, "repetitions=1") == 1
    said = capsys.readouterr().err
    assert "results not written" in said
    assert said.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_scheduler_that_does_not_respond_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                          capsys: pytest.CaptureFixture[str]) -> None:  # fmt: skip
    monkeypatch.setattr(farm, "PATIENCE_S", 0.3)
    assert sweep(tmp_path, "repetitions=1", "--scheduler", "tcp://127.0.0.1:9") == 2
    said = capsys.readouterr().err
    assert said.startswith("SCHEDULER: no scheduler at 'tcp://127.0.0.1:9': ")
    assert said.count("\n") == 1
    assert sweep(tmp_path, "repetitions=1", "--scheduler", "nonsense://x") == 2
    assert "nonsense://x" in capsys.readouterr().err


def test_a_scheduler_by_address_gives_the_same_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(farm, "PATIENCE_S", PATIENCE_S)
    local: dict[str, Any] = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "protocol": "tcp"}
    with importlib.import_module("distributed").LocalCluster(**local, dashboard_address="localhost:0") as cluster:
        assert sweep(tmp_path, "repetitions=1,2", "--scheduler", cluster.scheduler_address) == 0
    assert pq.read_table(tmp_path / "out" / "points.parquet").to_pydict()["us"] == [2.0, 4.0]
    assert "2 of 2 points, 0 known" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["0", "many", "-1", "2000"])
def test_an_invalid_number_of_workers_is_rejected(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sweep(tmp_path, "repetitions=1", f"--workers={text}") == 2
    assert f"WORKERS is {text!r}; give 1 to 1024" in capsys.readouterr().err


def test_an_unmeasured_metric_is_rejected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sweep(tmp_path, "repetitions=1,2", "--plot", "u") == 2
    assert capsys.readouterr().err == "PLOT: unknown metric: 'u' was not measured; did you mean 'us'?\n"


def test_the_longest_numeric_axis_is_horizontal() -> None:
    axes = (Axis("a", ("x", "y", "z")), Axis("b", ("1", "2")), Axis("c", ("1", "2", "4")))
    table: dict[str, list[Cell]] = {"a": ["x", "x", "y"], "b": [1, 2, 1], "c": [4, 4, 2], "m": [1.0, None, 3.0]}
    assert plot.long_axis(axes).key == "c"
    assert plot.lines(table, axes, "m") == {"a=x b=1": [(4, 1.0)], "a=y b=1": [(2, 3.0)]}


def test_designs_are_points_with_their_names_in_a_column(tmp_path: Path) -> None:
    designs = "slow: repetitions=3; fast: repetitions=1 seed=9; usual:"
    assert run.main(["echo_pingpong", f"--designs={designs}", "--workers=1", "--out", str(tmp_path / "out")]) == 0
    found = pq.read_table(tmp_path / "out" / "points.parquet").to_pydict()
    assert found["design"] == ["slow", "fast", "usual"]
    assert (found["us"], found["seed"]) == ([6.0, 2.0, 0.0], [1, 9, 1])
    assert sweep(tmp_path, "seed=1,2", f"--designs={designs.replace(' seed=9', '')}") == 0
    found = pq.read_table(tmp_path / "out" / "points.parquet").to_pydict()
    assert list(zip(found["design"], found["seed"], strict=True))[:3] == [("slow", 1), ("slow", 2), ("fast", 1)]


@pytest.mark.parametrize(
    ("designs", "axes", "said"),
    [
        ("repetitions=3", "", "DESIGNS: design without a name: 'repetitions=3'; write \"name: key=value"),
        ("a: repetitions=3; a: seed=2", "", "DESIGNS: 'a' given twice"),
        ("a: repetitons=3", "", "invalid point design=a: SET: unknown key 'repetitons'"),
        ("a: repetitions=3", "repetitions=1", "AXES: repetitions given twice: design 'a' sets it; keep one"),
        ("", "", "AXES: no axis"),
    ],
)
def test_invalid_designs_are_rejected(
    designs: str, axes: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sweep(tmp_path, axes, "--designs", designs) == 2
    assert said in capsys.readouterr().err
    assert not CALLS


def test_csv_has_the_same_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sweep(tmp_path, "repetitions=1,2", "--csv") == 0
    with (tmp_path / "out" / "points.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    table = pq.read_table(tmp_path / "out" / "points.parquet").to_pydict()
    assert [*rows[0]] == [*table]
    assert [float(row["us"]) for row in rows] == table["us"]
    assert rows[1]["curve.y"] == "2.0 2.0" and rows[0]["failure"] == ""
    assert "points.csv" in capsys.readouterr().out


def test_metrics_by_size_become_one_column_where_the_size_is_an_axis() -> None:
    cells: dict[str, list[Cell]] = {
        "size": [0, 0, 64],
        "hosts": [2, 4, 2],
        "us_0B": [1.0, 2.0, None],
        "us_64B": [None, None, 3.0],
        "all_0B": [1.0, 1.0, 1.0],
        "all_64B": [1.0, 1.0, 1.0],
    }
    found = shown(cells, ["us_0B", "us_64B", "all_0B", "all_64B"], ["size", "hosts"])
    assert found == {"us": [1.0, 2.0, 3.0], "all_0B": [1.0] * 3, "all_64B": [1.0] * 3}


def test_a_plot_has_units_and_the_colours_of_reports_and_no_panel_without_a_line(tmp_path: Path) -> None:
    axes = (Axis("size", ("0", "64")), Axis("hosts", ("2", "4")))
    cells: dict[str, list[Cell]] = {
        "size": [0, 0, 64, 64],
        "hosts": [2, 4, 2, 4],
        "wait_us": [1.0, 2.0, 3.0, 4.0],
        "lone_us": [1.0, 2.0, None, None],
    }
    assert plot.drawable(cells, axes, ["wait_us", "lone_us"]) == ["wait_us"]
    assert plot.draw(cells, axes, ["wait_us", "lone_us"], "t", tmp_path / "p.svg", {"size": "B", "wait_us": "us"})
    drawing = (tmp_path / "p.svg").read_text(encoding="utf-8")
    words = re.findall(r"<text[^>]*>([^<]*)</text>", drawing)
    assert {"wait_us", "size, B", "us", "hosts=2", "hosts=4"} <= set(words) and "lone_us" not in words
    assert "#0b6bcb" in drawing and "#030303" not in drawing
    css = CSS.read_text(encoding="utf-8")
    assert all(colour in css for colour in LIGHT.values())


@pytest.mark.parametrize(
    ("metric", "unit"),
    [("one_way_us_64B", "us"), ("bandwidth_MBps", "MB/s"), ("messages_per_s", "1/s"), ("cpu_percent", "%"), ("x", "")],
)
def test_the_unit_of_a_metric_is_a_word_of_its_name(metric: str, unit: str) -> None:
    assert unit_of(metric) == unit


def test_without_varying_metrics_there_is_no_plot(tmp_path: Path) -> None:
    assert not plot.draw({"a": [1, 2], "m": [1.0, 1.0]}, (Axis("a", ("1", "2")),), ["m"], "t", tmp_path / "p.svg")
    assert not list(tmp_path.iterdir())
