"""Batch of campaign seeds that a worker runs in one simulation."""

from __future__ import annotations

import json
import shlex
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tb.campaign.defaults import DEFAULTS
from tb.campaign.judge import CHECKED, LET_THROUGH, NOT_SENT, SILENT
from tb.campaign.rtl import FOUND
from tb.fuzz.batch import simulated
from tb.plan.faults import KINDS
from tb.sweep.work import Done
from tb.tools.paths import OUT

WORK = OUT / "campaign"
STUDY = "tb.campaign.rtl"
AT_ONCE = 50
"""Number of seeds in a batch."""


@dataclass(frozen=True)
class Batch:
    """Seeds of one layer on one NIC kind."""

    layer: str
    profile: str
    first: int
    count: int
    simulator: str = "verilator"
    settings: str = ""

    @property
    def study(self) -> str:
        """Name of the campaign to which the batch belongs."""
        return f"campaign-{self.layer}-{self.profile}"


@dataclass(frozen=True)
class Ended:
    """Fault with its outcome."""

    layer: str
    profile: str
    seed: int
    fault: str
    outcome: str
    why: str
    told: tuple[str, ...] = ()
    simulator: str = Batch.simulator
    settings: str = Batch.settings

    @property
    def kind(self) -> str:
        """Kind of the fault."""
        return self.fault.partition(":")[0]

    @property
    def broken(self) -> bool:
        """True for a silent fault whose detection the protocol promises."""
        if self.outcome not in SILENT or self.kind not in CHECKED or LET_THROUGH in self.why:
            return False
        return self.layer in DEFAULTS.ordered or NOT_SENT in self.why or "guards" in self.why

    @property
    def again(self) -> str:
        """Command that repeats this fault."""
        words = {"LAYER": self.layer, "PROFILE": self.profile, "SEEDS": f"{self.seed}..{self.seed}"}
        words |= {"SET": self.settings} if self.settings else {}
        words |= {"SIM": self.simulator} if self.simulator != Batch.simulator else {}
        return " ".join(["make campaign", *(f"{name}={shlex.quote(word)}" for name, word in words.items())])

    @property
    def seen_by(self) -> str:
        """Mechanisms that would detect this silent fault."""
        if "guards" in self.why:
            end = "protection of the host's pages against the card"
        elif NOT_SENT in self.why:
            end = "a CRC-32 end to end"
        else:
            end = "a number end to end"
        own = PARITY.get(self.kind) or PARITY.get(KINDS[self.kind].layer, "")
        return f"{end}; {own}" if own else end


PARITY = {
    "pci": "PAR and PERR# of the PCI bus",
    "sram": "parity of the NIC's memory",
    "nic": "parity of the NIC's registers",
    "memory": "ECC of host memory",
    "link": "a longer CRC on the link",
    "firmware": "checks of its own state",
}
"""Local detection mechanisms by fault kind or system layer."""


def batches(layer: str, profile: str, first: int, count: int, simulator: str, settings: str) -> list[Batch]:
    """Return all seeds as batches."""
    return [
        Batch(layer, profile, at, min(AT_ONCE, first + count - at), simulator, settings)
        for at in range(first, first + count, AT_ONCE)
    ]


def run_batch(batch: Batch) -> Done:
    """Run a batch. No effect of a fault raises an exception."""
    WORK.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=WORK, prefix=f"{batch.layer}-{batch.first}-"))
    try:
        settings = f"layer={batch.layer} first={batch.first} count={batch.count} run.packets_MB=4 {batch.settings}"
        outcome = simulated(STUDY, batch.simulator, "", batch.profile, settings, folder)
        found = folder / FOUND
        if outcome.passed and found.exists():
            return Done(found.read_text(encoding="utf-8"))
        return Done(failures=tuple(outcome.failures) or ("the run left no results",))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def ended(batch: Batch, done: Done) -> Iterator[Ended]:
    """Yield the faults of a batch with their outcomes."""
    told: list[dict[str, Any]] = json.loads(done.results)
    for one in told:
        made = {"told": tuple(one["told"]), "simulator": batch.simulator, "settings": batch.settings}
        yield Ended(batch.layer, batch.profile, **{**one, **made})
