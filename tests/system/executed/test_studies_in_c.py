"""Studies that are listed as running with C firmware: each runs to its end.

Strategy: each runs with its smallest settings, on a build of two hosts or of eight (also where it needs four). Studies
that other tests run are left out by name. A listed study without a row here fails.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pymodels.trace import TraceEvent
from tb.run.studies_list import files_in_c
from tests.system.runs import must

SMALL = {
    "board_compare": "repetitions=1",
    "grim_channels": "repetitions=1 messages=4 size=256",
    "grim_deadlock": "each=2 longest=256",
    "grim_many_hosts": "messages=1 size=16",
    "grim_overflow_cost": "repetitions=1",
    "grim_policing": "limits=1 queue=1024",
    "grim_polling": "repetitions=2 compute_us=50",
    "grim_retry": "messages=40 stop_us=300 pace_us=5",
    "grim_streaming": "messages=8",
    "grim_transfer": "file=LICENSE send_bytes=3000",
    "silence": "silence_ms=1",
    "switch_fairness": "messages=8",
}
EIGHT = ("grim_deadlock", "grim_many_hosts", "grim_overflow_cost", "switch_fairness")
"""Studies that need at least four hosts."""
ELSEWHERE = {"echo_pingpong", "executed_costs", "grim_overflow", "grim_pingpong"}
"""Studies that `test_executed` and `test_executed_costs` run."""


def test_a_factor_of_charged_paths_is_named_as_without_effect(tmp_path: Path) -> None:
    done = must("echo_pingpong", "verilator", tmp_path, "nic.firmware=c processor.work_scale=1.5 repetitions=2")
    assert done.results.warnings == tuple(
        f"processor.work_scale: no effect on {name}, whose NIC executes its own code; choose nic.firmware=python"
        for name in ("paris", "metz")
    )


def test_each_listed_study_is_run() -> None:
    assert files_in_c().keys() == SMALL.keys() | ELSEWHERE


@pytest.mark.parametrize("study", SMALL)
def test_a_study_runs_to_its_end_with_firmware_in_c(study: str, tmp_path: Path) -> None:
    cluster = "eight_hosts" if study in EIGHT else ""
    done = must(study, "verilator", tmp_path, f"nic.firmware=c {SMALL[study]}", cluster)
    assert TraceEvent.FUNCTION in done.trace["event"], "a NIC has executed functions"
    assert done.metrics
