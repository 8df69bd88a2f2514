"""On Icarus every register begins as X: none may reach a wire between the parts of a cluster once reset is over.

Strategy: every wire of the generated top level is read in every character clock while messages go round, on
Icarus; that all wires are there and that characters moved is checked too, so that the test cannot pass by seeing
nothing.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.system.runs import must


@pytest.mark.parametrize(("profile", "asleep"), [("lanai9", 0), ("lanai4", 2), ("sp", 0)])
def test_no_x_on_any_wire_between_parts_after_reset(profile: str, asleep: int, tmp_path: Path) -> None:
    """`asleep`: clocks that never wake; a LANai 4 has one clock with its PCI bus."""
    seen = must("no_x", "icarus", tmp_path, profile=profile).metrics
    ports, clocks = 2 + 8, 3 * 2 + 1
    assert seen["wires"] == 2 * ports + clocks
    assert seen["looks"] > 1000
    assert seen["wires_that_changed"] >= 4 + clocks - asleep, "both ways of both cables, and every part was awake"
