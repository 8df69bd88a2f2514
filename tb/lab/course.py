"""Course of a study on a cluster that has booted: its faults, the study, and what is then in flight."""

from __future__ import annotations

from tb.lab.faults import Injector
from tb.lab.lab import Lab
from tb.plan.faults import faults
from tb.plan.request import INJECT
from tb.plan.studies import StudyInfo


async def run_study(info: StudyInfo, lab: Lab) -> None:
    """Inject the faults of the settings, run a study, and wait until nothing is in flight."""
    given = faults(lab.text(INJECT), lab.plan.cluster)
    if given:
        Injector(lab.running).inject(given)
    await info.run(lab)
    await lab.simulation.drain()
    if info.design is None and (peak := lab.running.central_queue_peak()):
        lab.metric("central_queue_peak_B", peak)
