"""A result on disk records everything that determined it, also in a second run and on the other simulator.

Strategy: one short study runs on both simulators with settings of each kind; `results.json` is read as plain JSON.
"""

from __future__ import annotations

import json
import platform
from pathlib import Path

import numpy as np
import pytest

from pymodels.results import differences
from tb.plan.provenance import commits, own_version
from tests.system.runs import must

GIVEN = "repetitions=1 switch.fall_through_ns=700 run.trace_records=65536 nic.firmware=c,python"


@pytest.mark.parametrize("simulator", ["verilator", "icarus"])
def test_results_record_settings_firmware_versions_and_commits(simulator: str, tmp_path: Path) -> None:
    done = must("echo_pingpong", simulator, tmp_path, GIVEN)
    plain = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    asked = dict(word.split("=") for word in GIVEN.split())
    assert plain["given"] == sorted(asked)
    assert {key: str(plain["settings"][key]) for key in asked} == asked
    assert {"clock.nic_ps", "run.always_on", "fault.loss"} <= plain["settings"].keys()
    assert plain["firmware"] == "c,python"
    assert plain["versions"].pop("simulator").lower().startswith(simulator)
    known = {"sanlab": own_version(), "python": platform.python_version(), "numpy": np.__version__}
    assert plain["versions"].items() >= known.items()
    assert plain["commits"] == commits()
    assert plain["wall_begun"].endswith("Z")
    other = must("echo_pingpong", "icarus", tmp_path / "other", GIVEN)
    assert differences(done.results, other.results, same_simulator=False) == []
