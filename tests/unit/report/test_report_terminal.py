"""The summary on the terminal.

Strategy: made-up results are shown on a recording console, as a terminal and as a file. The text is searched for what
a reader must find, above all the last line; on a file it must be plain: no colours, no frames, no folded lines. Names
with brackets and colons must come out as they are.
"""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from pymodels.results import Results
from tb.report.terminal import summary
from tests.unit.report.madeup import PUBLISHED, SIZED, STAGES, Question, results

FULL = results({**SIZED, **STAGES, "half_bandwidth_B": 1432.0}, published=PUBLISHED)


def shown(result: Results, failures: list[str], terminal: bool, folder: Path, width: int = 100) -> str:
    console = Console(record=True, width=width, force_terminal=terminal, file=io.StringIO(), _environ={})
    summary(console, Question(), result, failures, folder / "report.html", folder)
    return console.export_text(styles=terminal)


@pytest.mark.parametrize("terminal", [True, False])
def test_all_metrics_are_printed(tmp_path: Path, terminal: bool) -> None:
    text = shown(FULL, [], terminal, tmp_path)
    for part in ("Is 1 < 2 & 2 > 1?", "64 KB", "560.250", "wire and switch", "half_bandwidth_B", "latency <short>"):
        assert part in text
    for part in ("predicted", "quoted", "0.800", "wake-ups per message 3.5", "Python 25 %", "two_hosts", "seed 3"):
        assert part in text


def test_last_line_is_the_path_of_the_report_as_seen_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "sim_build" / "made up [1]"
    text = shown(FULL, ["broken"], False, folder, width=20)
    assert text.splitlines()[-1] == "report: sim_build/made up [1]/report.html"


def test_warnings_stand_before_the_failures(tmp_path: Path) -> None:
    warned = replace(FULL, warnings=("processor.work_scale: no effect on paris",))
    lines = shown(warned, ["lost 2"], False, tmp_path).splitlines()
    assert lines[-3:-1] == ["warning: processor.work_scale: no effect on paris", "failed: lost 2"]


def test_failures_have_a_line_each_and_are_red(tmp_path: Path) -> None:
    failures = ["sw0.in[3]: [slack] lost 2 characters", "second :smile:"]
    plain = shown(FULL, failures, False, tmp_path).splitlines()
    assert plain[-3:-1] == [f"failed: {line}" for line in failures]
    coloured = shown(FULL, failures, True, tmp_path)
    assert "\x1b[1;31mfailed: sw0.in[3]: [slack] lost 2 characters" in coloured


def test_a_file_gets_plain_columns_on_unbroken_lines(tmp_path: Path) -> None:
    lines = shown(FULL, [], False, tmp_path, width=20).splitlines()
    assert " 1 KB      15.750   65.02" in lines
    assert all(line.isascii() and line == line.rstrip() and "\x1b" not in line for line in lines)


def test_a_study_that_measured_nothing_has_no_tables(tmp_path: Path) -> None:
    lines = shown(results(), [], False, tmp_path).splitlines()
    assert [line.split(":")[0].split(",")[0] for line in lines if line] == [
        "made_up",
        "two_hosts",
        "simulated 1.25 ms",
        "report",
    ]
