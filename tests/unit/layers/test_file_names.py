"""File names that a layer has on both NIC and host mean the same on both.

Strategy: the Python files of each layer are listed by name; each name on both sides must be in a list with its meaning.
"""

from __future__ import annotations

from pathlib import Path

from firmware.layers import names
from tb.tools.paths import ROOT

SAME = {
    "epos": dict.fromkeys(("active", "flow", "mtu", "multicast", "reliability", "rendezvous"), "sides of a protocol"),
    "grim": {"hybrid": "sides of the hybrid queue"},
    "via": {"waits": "what a side lacks, for reports of hangs"},
}
"""Names of files on both sides, by layer, and their meaning."""


def on_side(layer: str, side: str) -> set[str]:
    """Return the names of a side's Python files, without those of its packages."""
    folder = Path(ROOT / "firmware" / layer / side)
    return {path.stem for path in folder.rglob("*.py") if path.stem != "__init__"}


def test_equal_names_on_the_nic_and_the_host_mean_the_same() -> None:
    both = {layer: on_side(layer, "nic") & on_side(layer, "host") for layer in names()}
    assert {layer: found for layer, found in both.items() if found} == {layer: set(SAME[layer]) for layer in SAME}
