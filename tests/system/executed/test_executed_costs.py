"""The study of executed costs: path costs are close to the clocks that a LANai core takes for the same paths.

Strategy: the study runs as users run it, with echo as coroutine and as C executed by the core in RTL. Its table must
have every path, the clocks of the core must add up, and a message must take about as long with both.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pymodels.costs.executed import LEVELS, load
from tb.studies.costs.executed_costs import layers
from tests.system.runs import must


def test_executed_echo_takes_about_the_charged_time(tmp_path: Path) -> None:
    charged = must("executed_costs", "verilator", tmp_path / "python", "repetitions=3")
    executed = must("executed_costs", "verilator", tmp_path / "c", "repetitions=3 nic.firmware=c")
    one_way = "echo_one_way_us_8B"
    assert executed.metrics[one_way] == pytest.approx(charged.metrics[one_way], rel=0.1)
    waits = [executed.metrics[f"core_0_{stall}_percent"] for stall in ("fetch", "load", "grant", "register")]
    instructions = 100 / executed.metrics["core_0_clocks_an_instruction"]
    assert sum(waits) + instructions == pytest.approx(100)
    table = (executed.folder / "executed_costs.md").read_text(encoding="utf-8")
    for layer in layers():
        assert table.count(f"| {layer} |") == sum(len(load(layer)[level]) for level in LEVELS)
    assert "firmware/echo/nic/paths.c:" in table, "where the core's clocks went"
    assert "paths.c:" not in (charged.folder / "executed_costs.md").read_text(encoding="utf-8")
