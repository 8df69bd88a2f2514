"""`switch_fairness`: what the study rejects before a build. `system/test_equality.py` compares its results."""

from __future__ import annotations

import pytest

from pymodels.errors import ConfigError
from tb.plan import studies
from tb.plan.request import plan, resolve
from tb.tools.paths import SIMULATORS


@pytest.mark.parametrize(
    ("cluster", "settings", "said"),
    [("eight_hosts", "run.trace=0", "no trace"), ("two_hosts", "", "too few hosts"), ("eight_hosts", "", "")],
)
def test_a_trace_and_two_senders_are_required(cluster: str, settings: str, said: str) -> None:
    request = resolve("switch_fairness", "verilator", "1", False, cluster, "", settings, SIMULATORS)
    if not said:
        assert plan(request, studies.load("switch_fairness")).options["size"] == 64
        return
    with pytest.raises(ConfigError, match=said):
        plan(request, studies.load("switch_fairness"))
