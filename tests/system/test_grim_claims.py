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
