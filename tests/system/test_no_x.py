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
    ports, clocks, bundles = 2 + 8, 3 * 2 + 1, 2 * 2
    assert seen["wires"] == ports + clocks + bundles, "the characters of each port, each request, each host's PCI pins"
    assert seen["looks"] > 1000
    assert seen["wires_that_changed"] >= 4 + clocks + bundles - asleep, (
        "both ways of both cables, each bundle, each clock"
    )
