"""Single faults on the RTL: each kind takes effect at its time, with gated and free-running clocks.

Strategy: a random fault of each kind runs in both ways. The faults drawn from the clean run, their outcomes and their
signatures must be equal, word by word.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tb.campaign.batch import STUDY
from tb.campaign.rtl import FOUND
from tb.fuzz.batch import simulated
from tb.plan.faults import IN_C, KINDS, OF_CARDS
from tests.system.runs import run

DRAWN = KINDS.keys() - IN_C - OF_CARDS
COUNT = len(DRAWN)
LIMIT_US = 150
"""Time after the clean run's end, longer than a time-out of GRIM, us."""


def campaign(folder: Path, settings: str) -> list[dict[str, Any]]:
    """Return the faults of a campaign with their outcomes."""
    outcome = simulated(STUDY, "verilator", "two_hosts", "", f"{settings} limit_us={LIMIT_US}", folder)
    assert outcome.passed, outcome.failures
    found: list[dict[str, Any]] = json.loads((folder / FOUND).read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("layer", ["grim", "via"])
def test_faults_act_equally_asleep_and_always_on(layer: str, tmp_path: Path) -> None:
    settings = f"layer={layer} first={COUNT} count={COUNT}"
    asleep, awake = (campaign(tmp_path / str(on), f"{settings} run.always_on={on}") for on in (0, 1))
    assert asleep == awake
    assert {one["fault"].partition(":")[0] for one in asleep} == DRAWN
    assert len({one["outcome"] for one in asleep}) > 3


def test_a_fault_is_a_setting_of_any_run(tmp_path: Path) -> None:
    done = run("echo_pingpong", "verilator", tmp_path, "fault.inject=reset:metz@5 run.hang_us=2000 run.stuck_waves=0")
    assert not done.passed
    assert "nothing has happened for" in "".join(done.failures)
