"""Promises of each layer with mail on RTL, as on the machine: sizes, order, late receivers, faults.

Strategy: one run per case of the suite (`tests/unit/conformance/cases.py`) on its usual profile, with losses and damage
if the layer repairs both and keeps the order. The fastest case also runs on Icarus, with the same results.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from firmware.promises import Promise
from tb.plan.fitting import fitting_profile
from tests.system.runs import Run, assert_equal, must
from tests.unit.conformance.cases import CASES, Case, every_case

RECEIVED = 4 * (2 * 3 + 7)
ON_ICARUS = [case for case in CASES if case.layer == "echo"]
REPAIRED = Promise.LOSS | Promise.DAMAGE | Promise.RESEQUENCING
"""Promises of the cases that run on a network with faults."""
FAULTS = "fault.loss=0.02 fault.damage=0.02"


def conformance(case: Case, simulator: str, folder: Path) -> Run:
    """Run the scenario of a case."""
    settings = [f"layer={case.layer}", *(f"{case.layer}.{word}" for word in case.text.split())]
    settings.append(f"ordered={int(Promise.ORDER in case.promised)}")
    if REPAIRED in case.promised:
        settings.append(FAULTS)
    profile = fitting_profile(case.layer, {case.layer: case.options})
    return must("conformance", simulator, folder, " ".join(settings), profile=profile.name)


@every_case
def test_a_layer_keeps_its_promises_on_rtl(case: Case, tmp_path: Path) -> None:
    assert conformance(case, "verilator", tmp_path).metrics["received"] == RECEIVED


@pytest.mark.parametrize("case", ON_ICARUS, ids=str)
def test_both_simulators_agree_on_the_traffic_of_a_layer(case: Case, tmp_path: Path) -> None:
    one, other = (conformance(case, name, tmp_path / name) for name in ("verilator", "icarus"))
    assert_equal(one, other)
