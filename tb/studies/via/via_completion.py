"""What does it cost to learn of a completion: an entry that the NIC writes, or a look at every work queue?

Strategy (paper 001, 2.3.4): two pairs of hosts differ in the completion queue only. CQ1, the NIC writes an entry: the
additional time of a message over one without a completion queue. CQ2, the library polls the work queues: the time of
one call of VipCQDone over the number of its receive queues, and the additional time of a message. The straight line
through the numbers of queues is evaluated at the mean numbers of queues of the NPB kernels LU and MG.
"""

from __future__ import annotations

from pymodels.npb import recv_queues
from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.kit.findings import curve
from tb.studies.kit.statistics import slope
from tb.studies.via._via_case import Case
from tb.studies.via._via_ends import End, pairs
from tb.studies.via._via_rounds import Link, latency

LAYER = "via"
CLUSTER = "four_hosts"
SIZE = 16
QUEUES = (1, 2, 3, 4, 5, 6, 7)
OPTIONS = {
    "rounds": Option(40, "round trips of each point", 2, 100_000),
    **layer_options(LAYER),
}
QUICK = "rounds=6"
CODES = tuple((code, processes) for code in ("LU", "MG") for processes in (4, 16, 64))


async def run(lab: Lab) -> None:
    """Run the study."""
    entry = 0.0
    for choice, (near, far) in (await pairs(lab, {c: {"completion": c} for c in ("cq1", "cq2")})).items():
        base = await _time(lab, near, far, 0)
        added = [await _time(lab, near, far, queues) - base for queues in QUEUES]
        looks = [await _look(lab, near, far, queues) for queues in QUEUES]
        curve(lab, f"{choice}_added", QUEUES, added, "receive queues", "us", f"{choice}_added_us_{{}}_queues")
        curve(lab, f"{choice}_look", QUEUES, looks, "receive queues", "us", f"{choice}_look_us_{{}}_queues")
        if choice == "cq1":
            entry = sum(added) / len(QUEUES)
            lab.metric("cq1_us", entry)
        else:
            _applications(lab, entry, looks)


def _applications(lab: Lab, entry: float, looks: list[float]) -> None:
    """Record the cost of polling as many queues as a process of each application has, and that of an entry."""
    each = slope(QUEUES, looks)
    first = (sum(looks) - each * sum(QUEUES)) / len(QUEUES)
    lab.metric("cq2_us_per_queue", each)
    for code, processes in CODES:
        queues = recv_queues(code, processes)
        cost = first + each * queues
        lab.metric(f"queues_{code}_{processes}", queues)
        lab.metric(f"cq2_us_{code}_{processes}", cost)
        costs = f"polling {queues:g} queues takes {cost:.2f} us, an entry {entry:.2f} us"
        lab.check(f"cost of {code} on {processes} processes", cost < entry, costs)


async def _look(lab: Lab, near: End, far: End, queues: int) -> float:
    """Return the time in us of one call of VipCQDone without a completion."""
    link = await Link.make(near, far, Case(SIZE, queue=queues), 1)
    await link.near.expect(SIZE)
    begun = lab.kernel.now
    await link.near.queue.done()
    took = lab.kernel.now - begun
    await link.close()
    return took / 1e6


async def _time(lab: Lab, near: End, far: End, queues: int) -> float:
    """Return the one-way time with `queues` receive queues in a completion queue (0: without one)."""
    return (await latency(near, far, Case(SIZE, queue=queues), lab.option("rounds"))).value
