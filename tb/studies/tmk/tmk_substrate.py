"""What does TreadMarks need of VIA: VIs, registered memory, receives posted ahead (paper 001, 5.3)?

Strategy: over Berkeley VIA. SOR runs on all hosts with two VIs a pair, and with one. Registered memory is measured over
the number of processes, with one receive a VI for Requests and with as many as can arrive. It is extrapolated to 256
processes (the paper's example: one receive). Then four processes run a case that loses a Request when there is one
receive. A lock manager requests a lock and forwards two Requests, while the locks' holder computes and does not poll.
Processes that hang are counted, for one receive and for n-1.
"""

from __future__ import annotations

from typing import Any

from firmware.tmk.host.substrate import MOST
from firmware.via.formats import ALIGNMENT
from tb.lab.lab import Lab
from tb.plan.options import Option, stack_options
from tb.plan.request import Plan
from tb.studies.tmk._tmk import anew, check_counts, check_hosts
from tb.studies.tmk._tmk_apps import OPTIONS as APPS
from tb.studies.tmk._tmk_apps import ran, size_of

LAYER = "tmk"
CLUSTER = "eight_hosts"
OPTIONS = {
    "counts": Option("2,4,8", "numbers of processes whose registered memory is measured, with commas"),
    "scale": APPS["scale"],
    **stack_options(LAYER),
}
QUICK = "scale=64 counts=2,4"
VARIANTS = {"l7": ("lanai9-l7+p2-300", "")}
"""Hosts of chapter 5."""
MANY = 256
"""Number of processes in the paper's example (5.3.4)."""
LOCKS = {1: 9, 0: 1, 3: 5}
"""Lock requested by each process; process 1 manages all three, and process 2 had them."""
HOLDER = 2
COMPUTING_NS = 5_000_000
PATIENCE_PS = 50_000_000_000
"""Time after which a waiting process counts as hanging, ps."""


def check(plan: Plan) -> None:
    """Reject invalid numbers, and more processes than hosts."""
    check_counts(plan)
    check_hosts(plan, "tmk_substrate", len(LOCKS) + 1)


async def run(lab: Lab) -> None:
    """Run the study."""
    counts = [int(count) for count in lab.text("counts").split(",")]
    await _lines(lab)
    for prepost in (1, 0):
        await _registered(lab, counts, prepost)
        lab.metric(f"waiting_for_ever_{_name(prepost)}", await _waiting(lab, prepost))
    lab.metric(f"queue_buffers_{MANY}_KB", (MANY - 1) * MOST // 1024)
    lab.metric(f"queue_descriptors_{MANY}_B", (MANY - 1) * ALIGNMENT)


def _name(prepost: int) -> str:
    return "one_receive" if prepost else "n_less_one_receives"


async def _lines(lab: Lab) -> None:
    """Run SOR with one VI a pair and with two."""
    seconds = {}
    for vis in (2, 1):
        found = await ran(lab, "sor", size_of(lab, "sor"), "bvia", len(lab.running.hosts), vis=vis)
        seconds[vis] = found.seconds
        lab.metric(f"sor_s_{vis}_vis", found.seconds)
    lab.metric("sor_one_vi_over_two", seconds[1] / seconds[2])


async def _registered(lab: Lab, counts: list[int], prepost: int) -> None:
    """Measure VIs and registered memory of a process over the number of processes, and extrapolate to many."""
    found = []
    for count in counts:
        tmk = (await anew(lab, "bvia", processes=count, pages=1, prepost=prepost))[0]
        lines = tmk._substrate.lines
        lab.metric(f"vis_{count}", sum(len(pair) for pair in lines.values()))
        found.append(tmk._substrate.registered)
    lab.series(f"registered_{_name(prepost)}", counts, [one / 1024 for one in found], "processes", "KB")
    lab.metric(f"registered_{_name(prepost)}_{counts[-1]}_KB", found[-1] / 1024)
    requests = prepost or MANY - 1
    places = (MANY - 1) * (2 + requests + 1)  # a send of each VI; receives for Requests, one for Responses
    lab.metric(f"registered_{_name(prepost)}_{MANY}_MB", places * (MOST + ALIGNMENT) / 2**20)


async def _waiting(lab: Lab, prepost: int) -> int:
    """Return how many of four processes never finish."""
    processes = await anew(lab, "bvia", processes=4, pages=1, prepost=prepost, scheme="polling")
    tasks = [lab.spawn(_ask(tmk), tmk.process.who) for tmk in processes]
    await lab.kernel.sleep(PATIENCE_PS, "whoever waits for ever")
    waiting = [task for task in tasks if not task.finished.done]
    for task in waiting:
        lab.kernel.stop(task)
    return len(waiting)


async def _ask(tmk: Any) -> None:
    if tmk.proc_id == HOLDER:
        for lock in LOCKS.values():
            await tmk.lock_acquire(lock)
            await tmk.lock_release(lock)
    await tmk.barrier(0)
    if tmk.proc_id == HOLDER:
        await tmk.process.compute(COMPUTING_NS)
    else:
        await tmk.lock_acquire(LOCKS[tmk.proc_id])
        await tmk.lock_release(LOCKS[tmk.proc_id])
    await tmk.exit()
