"""What the papers claim of GRIM is what its studies measure on the RTL.

Strategy: each study runs as a user would run it, with small settings; its metrics are held against the published
values, within the agreement that each asks for, and against the ordering that the paper's text states.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pymodels.published import load_published
from tests.system.runs import must


@pytest.mark.parametrize(
    ("profile", "simulator"), [("lanai9", "verilator"), ("lanai4", "verilator"), ("lanai9", "icarus")]
)
def test_search_of_the_channels_takes_what_figure_4_10_says(profile: str, simulator: str, tmp_path: Path) -> None:
    done = must("grim_channel_scan", simulator, tmp_path, "times=3 disturbed=30 stream=20000", profile=profile)
    rows = [row for row in load_published() if row.study == "grim_channel_scan" and row.profile.startswith(profile)]
    assert len(rows) == 5
    for row in rows:
        assert row.agrees(done.metrics[row.metric]), f"{row.name}: {done.metrics[row.metric]}, published {row.value}"
    assert done.metrics[f"scan_disturbed_us_{profile}_32"] > done.metrics[f"scan_us_{profile}_32"]


@pytest.mark.parametrize("simulator", ["verilator", "icarus"])
def test_tree_of_nis_frees_the_sender_and_reaches_all(simulator: str, tmp_path: Path) -> None:
    done = must("grim_multicast", simulator, tmp_path, "hosts=2 size=256" if simulator == "icarus" else "hosts=8 size=64",
                cluster="two_hosts" if simulator == "icarus" else "eight_hosts")  # fmt: skip
    if simulator == "icarus":
        assert done.metrics["delivered"] == 1 * 2 * 2
        return
    assert done.metrics["delivered"] == (1 + 3 + 7) * 2 * 2
    assert done.metrics["copies"] == (1 + 3 + 7) * 2
    assert done.metrics["tree_host_us_8_hosts_64B"] < done.metrics["loop_host_us_8_hosts_64B"] / 4
