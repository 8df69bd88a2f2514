"""Protection against hostile processes, on the RTL of each kind of NIC.

Strategy: the study `via_fuzz` checks itself, byte by byte. It runs for a short time with the kernel's doorbell on two
NICs and with user-level doorbells on one.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.system.runs import must


@pytest.mark.parametrize(
    ("profile", "choice"), [("sp", ""), ("lanai4", "via.vis=8"), ("lanai9", "via.vis=8 via.preset=hwvia")]
)
def test_hostile_processes_do_not_affect_others(profile: str, choice: str, tmp_path: Path) -> None:
    done = must("via_fuzz", "verilator", tmp_path, f"tries=100 {choice}".strip(), profile=profile)
    assert done.metrics["acts_stopped"] == done.metrics["acts_elsewhere"] > 5
    assert done.metrics["honest_messages"] > 3
