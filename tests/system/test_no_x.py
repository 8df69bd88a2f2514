"""No X on a wire between the parts of a cluster after reset; on Icarus every register begins as X.

Strategy: every wire of the generated top level is read in every character clock during messages, on Icarus. The test
also checks that all wires exist and that characters moved, so that it cannot pass without observing any.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.system.runs import must


@pytest.mark.parametrize(("profile", "asleep"), [("lanai9", 0), ("lanai4", 2), ("sp", 0)])
def test_no_x_on_any_wire_between_parts_after_reset(profile: str, asleep: int, tmp_path: Path) -> None:
    """Check all wires; `asleep`: number of clocks that never run (a LANai 4 has one clock with its PCI bus)."""
    seen = must("no_x", "icarus", tmp_path, profile=profile).metrics
    ports, clocks = 2 + 8, 3 * 2 + 1
    assert seen["wires"] == 2 * ports + clocks
    assert seen["looks"] > 1000
    assert seen["wires_that_changed"] >= 4 + clocks - asleep, "both ways of both cables, and every part was awake"
