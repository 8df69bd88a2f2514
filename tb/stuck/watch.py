"""Examines a simulation that has stopped making progress: at a hang, at a broken invariant, or where a study expects
it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from pymodels.kernel import Task
from tb.lab.cluster import RunningCluster
from tb.lab.lab import Lab
from tb.sim.engine import HangError
from tb.stuck.report import Standstill, standstill

QUIET_US = 100


def look(lab: Lab, cause: str) -> Standstill:
    """Who waits for whom at this moment."""
    running = lab.simulation
    topology = lab.plan.cluster.topology if isinstance(running, RunningCluster) else None
    return standstill(cause, lab.trace(), topology, lab.kernel.waits_held(), lab.kernel.waiting())


async def until_deadlock(
    lab: Lab, tasks: Sequence[Task], quiet_us: int = QUIET_US, progress: Callable[[], int] | None = None
) -> Standstill | None:
    """Wait until all tasks have ended (None), or no hardware has told anything for `quiet_us`: then who waits for whom.

    For studies that show a deadlock; they check what is returned. What it left in flight no longer breaks the run. Time
    in which software only computes counts as quiet, so `quiet_us` must be longer than any such time. Where hardware
    stays active without making progress (messages refused and resent), `progress` counts useful work.
    """
    doorway, kernel = lab.simulation.doorway, lab.kernel
    told = -1
    while not all(task.finished.done for task in tasks):
        count = doorway.told if progress is None else progress()
        if count == told:
            found = look(lab, f"nothing has moved for {quiet_us} us")
            lab.running.stands_still = True
            found.leave(Path(lab.plan.request.folder))
            return found
        told = count
        await kernel.sleep(quiet_us * 1_000_000, "the tasks to end or to stand still")
    return None


def explain_failure(lab: Lab, error: BaseException | None, broken: Sequence[str]) -> list[str]:
    """After a hang or a broken invariant: leave the report of who waits for whom; the cycles, for the failures."""
    if isinstance(error, HangError):
        found = look(lab, error.what)
    elif broken:
        found = _look_back(lab, f"invariant: {broken[0]}")
    else:
        return []
    found.leave(Path(lab.plan.request.folder))
    return found.headlines() if error is not None else []


def _look_back(lab: Lab, cause: str) -> Standstill:
    """The moment at which the first invariant was broken; the end of the run for those that only the end shows."""
    running = lab.simulation
    if not isinstance(running, RunningCluster) or running.invariants.first is None:
        return look(lab, cause)
    time, software, held = running.invariants.first
    trace = lab.trace()
    return standstill(cause, trace[trace["time"] <= time], lab.plan.cluster.topology, held, software)
