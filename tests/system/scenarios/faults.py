"""Injected faults, by cable and character slot, as the text of a setting; shared by the scenarios.

`metz.0/flip/1200/1/0x10`: at port 0 of metz, flip (XOR 0x10) the character that arrives in slot 1200, for one slot.
Several faults are joined by commas.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from pymodels.topology import End
from tb.lab.lab import Lab
from tb.plan.options import Option

OPTIONS = {
    "faults": Option("none", "faults to inject, by slot"),
    "expected": Option(1, "0: the faults are not announced, so they break invariants", 0, 1),
}


class Fault(NamedTuple):
    """Change of the characters that arrive at a port in some slots."""

    into: End
    kind: str
    slot: int
    slots: int = 1
    value: int = 0

    def text(self) -> str:
        """Text of the fault in a setting."""
        return f"{self.into}/{self.kind}/{self.slot}/{self.slots}/{self.value:#x}"


def setting(faults: Iterable[Fault]) -> str:
    """Return the setting of a scenario that contains the faults."""
    return f"faults={','.join(fault.text() for fault in faults) or 'none'}"


def inject(lab: Lab) -> None:
    """Inject the faults of the setting. Must be called before their slots."""
    period = lab.plan.profile.integer("clock.link_ps") / 1e6
    for text in lab.text("faults").split(","):
        if text == "none":
            continue
        place, kind, slot, slots, value = text.split("/")
        node, port = place.rsplit(".", 1)
        first = (int(slot) - 0.5) * period  # half a slot early: the slot's edge is the first one after it
        lab.running.fault(End(node, int(port)), kind, first, first + int(slots) * period, int(value, 0))
    if not lab.option("expected"):
        lab.running.invariants.faults_expected = False


def hand_in_explained(lab: Lab) -> None:
    """Record the invariants violated by the faults, as metrics `explained_<kind>`."""
    for name, count in lab.running.invariants.explained.items():
        lab.metric(f"explained_{name}", count)
