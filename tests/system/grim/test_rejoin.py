"""Reset and restart of a NIC under load, on RTL.

Strategy: the study `grim_rejoin` checks that no message is lost without an error, duplicated or reordered, and that the
restarted host communicates with all others. Its metrics must show that the host failed under load and that messages
were reported. A shorter run on three hosts must be equal on both simulators and with clocks always on. Each of the
other styles of queue and kinds of sequencing runs once.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pymodels.builders import host_names, single_switch
from pymodels.config.generate import cluster_on
from pymodels.config.writer import write
from tests.system.runs import assert_equal, must

SHORT = "before_us=50 down_us=20 after_us=50 grim.timeout_us=40"


def test_host_restarts_under_load_without_stopping_others(tmp_path: Path) -> None:
    counted = must("grim_rejoin", "verilator", tmp_path, cluster="four_hosts").metrics
    assert counted["lost"] == counted["doubled"] == counted["out_of_order"] == 0
    assert counted["reported"] > 10
    assert counted["delivered"] > 300
    assert counted["gap_us"] > 200
    assert counted["others_pause_us"] < 3 * counted["others_pause_before_us"]


def test_restart_is_equal_on_both_simulators_and_with_gated_clocks(tmp_path: Path) -> None:
    cluster = str(write(cluster_on("three", single_switch(host_names(3))), tmp_path, "Three hosts"))
    one, other, awake = (
        must("grim_rejoin", simulator, tmp_path / name, f"{SHORT} {more}", cluster)
        for name, simulator, more in (
            ("verilator", "verilator", ""),
            ("icarus", "icarus", ""),
            ("awake", "verilator", "run.always_on=1"),
        )
    )
    assert one.metrics["reported"] > 5
    assert_equal(one, other)
    assert_equal(one, awake)


@pytest.mark.parametrize("choice", ["grim.queue_style=hybrid", "grim.sequencing=per-ni"])
def test_host_restarts_with_every_protocol_option(choice: str, tmp_path: Path) -> None:
    must("grim_rejoin", "verilator", tmp_path, choice, cluster="four_hosts")
