"""Does `grim_transfer` detect the effect of a faulty cable on a file?"""

from __future__ import annotations

from tb.lab.lab import Lab
from tb.studies.grim import grim_transfer
from tests.system.scenarios import faults

OPTIONS = {**grim_transfer.OPTIONS, **faults.OPTIONS}
check = grim_transfer.check


async def run(lab: Lab) -> None:
    """Run the scenario."""
    faults.inject(lab)
    await grim_transfer.run(lab)
