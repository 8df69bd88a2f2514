"""Level interrupts of every NIC kind on the RTL.

Strategy: the NIC asserts the interrupt again while the host clears it. The second assertion moves over the window in
steps below half of the shortest clock period, so each pair of clock edges occurs (`tests/interrupt_rounds.py`). All
news must be processed and the line must be released at the end. Around the point where both meet in one clock, results
and traces must be equal on both simulators and with free-running clocks.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.system.runs import assert_equal, must

CLUSTERS = {"lanai9": "two_hosts", "lanai4": "two_hosts", "sp": "two_hosts", "fifo": "fifo_cards"}
MEETING = "rounds=60 first_ns=290"
"""Round in which the SP adapter's ALARM and the host's store arrive in one clock."""


@pytest.mark.parametrize("kind", CLUSTERS)
def test_no_interrupt_is_lost_while_the_host_clears_or_masks_it(kind: str, tmp_path: Path) -> None:
    found = must("interrupt_phases", "verilator", tmp_path, "rounds=400", CLUSTERS[kind], profile=kind).metrics
    assert found["rounds_served_once"] > 0 and found["rounds_served_twice"] > 0, "the window has both orders"


def test_no_interrupt_is_lost_while_the_nic_masks_it(tmp_path: Path) -> None:
    must("interrupt_phases", "verilator", tmp_path, "rounds=100 masked=1", "two_hosts", profile="lanai9")


def test_a_line_that_never_falls_is_served_again_on_both_simulators_and_with_clocks_always_on(tmp_path: Path) -> None:
    done, icarus, awake = (
        must("interrupt_phases", simulator, tmp_path / name, f"{MEETING} {more}".strip(), "two_hosts", profile="sp")
        for name, simulator, more in (
            ("verilator", "verilator", ""),
            ("icarus", "icarus", ""),
            ("awake", "verilator", "run.always_on=1"),
        )
    )
    assert done.metrics["served_without_a_rise"] > 0
    assert_equal(done, icarus)
    assert_equal(done, awake)
