"""Analysis of a simulation that has stopped: at a hang, at a broken invariant, or where a study expects it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from pymodels.kernel import Task
from tb.lab.cluster import RunningCluster
from tb.lab.lab import Lab
from tb.sim.engine import HangError
from tb.stuck.report import HangReport, hang_report

QUIET_US = 100


def look(lab: Lab, cause: str) -> HangReport:
    """Return the waits at this time."""
    running = lab.simulation
    topology = lab.plan.cluster.topology if isinstance(running, RunningCluster) else None
    return hang_report(cause, lab.trace(), topology, lab.kernel.waits_held(), lab.kernel.waiting())


async def until_deadlock(
    lab: Lab, tasks: Sequence[Task], quiet_us: int = QUIET_US, progress: Callable[[], int] | None = None
) -> HangReport | None:
    """Wait until all tasks have ended (returns None), or until a deadlock (returns its report).

    For studies that demonstrate a deadlock and check the report. Packets left in flight no longer fail the run.

    Args:
        lab: Lab of the study.
        tasks: Tasks that may deadlock.
        quiet_us: Time in us without hardware events that counts as a deadlock; must exceed any time in which software
            only computes.
        progress: Function that counts useful work, for hardware that stays active without progress (NACK and
            retransmission).
    """
    doorway, kernel = lab.simulation.doorway, lab.kernel
    told = -1
    while not all(task.finished.done for task in tasks):
        count = doorway.event_count if progress is None else progress()
        if count == told:
            found = look(lab, f"no progress for {quiet_us} us")
            lab.running.stands_still = True
            found.leave(Path(lab.plan.request.folder))
            return found
        told = count
        await kernel.sleep(quiet_us * 1_000_000, "the tasks to end or to deadlock")
    return None


def explain_failure(lab: Lab, error: BaseException | None, broken: Sequence[str]) -> list[str]:
    """Write the report of waits after a hang or a broken invariant, and return its cycles as failures."""
    if isinstance(error, HangError):
        found = look(lab, error.what)
    elif broken:
        found = _look_back(lab, f"invariant: {broken[0]}")
    else:
        return []
    found.leave(Path(lab.plan.request.folder))
    return found.headlines() if error is not None else []


def _look_back(lab: Lab, cause: str) -> HangReport:
    """Return the report at the time of the first violation, or at the end of the run for violations found only then."""
    running = lab.simulation
    if not isinstance(running, RunningCluster) or running.invariants.first is None:
        return look(lab, cause)
    time, software, held = running.invariants.first
    trace = lab.trace()
    return hang_report(cause, trace[trace["time"] <= time], lab.plan.cluster.topology, held, software)
