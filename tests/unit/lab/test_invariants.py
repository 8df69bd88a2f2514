"""Broken invariants of the hardware end a run. Strategy: events of the hardware are made up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pymodels.kernel import Kernel
from tb.lab.invariants import Broken, Invariants


class Hardware:
    """Doorway that reports broken invariants."""

    tell: Callable[..., Any]

    def on_event(self, unit: int, tell: Callable[..., Any]) -> None:
        self.tell = tell


def test_link_faults_explained_later_no_longer_fail_a_run_but_other_invariants_do() -> None:
    hardware = Hardware()
    invariants = Invariants(hardware, Kernel())  # type: ignore[arg-type]
    for kind in (Broken.CRC_BAD, Broken.BRIDGE_LOST):
        hardware.tell(1_000_000, kind, 0, 0x123)
    assert ["CRC-8" in line for line in invariants.broken] == [True, False]
    invariants.explain_link_faults()
    hardware.tell(2_000_000, Broken.CRC_BAD, 0, 0x123)
    assert ["CRC-8" in line for line in invariants.broken] == [False]
