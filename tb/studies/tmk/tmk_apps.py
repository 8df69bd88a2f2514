"""How long do SOR, TSP, Jacobi and 3D FFT take on TreadMarks over UDP and over VIA, and where does the time go?

Strategy: each program runs on eight processes over UDP, then over Berkeley VIA, on the same hosts (paper 001, 5.5.4).
The improvement is the quotient of the two times, largest for FFT, then SOR, TSP, Jacobi. Results are compared with
those of sequential programs. The time of a process is divided into computation, communication, wait and protocol. By
default problems are scaled so that work, faults and cold pages a barrier stay; `SET="scale=1"` gives the paper's sizes.
`<program>_<substrate>.png` beside the results shows which process read and wrote which page when.
"""

from __future__ import annotations

from itertools import pairwise

from tb.lab.lab import Lab
from tb.plan.options import Option, stack_options
from tb.plan.request import Plan
from tb.studies.tmk._tmk import SUBSTRATES, check_hosts
from tb.studies.tmk._tmk_apps import OPTIONS as APPS
from tb.studies.tmk._tmk_apps import check_programs, chosen, ran, show, size_of

LAYER = "tmk"
HOSTS = 1
"""Smallest number of hosts; see `check`."""
CLUSTER = "eight_hosts"
OPTIONS = {**APPS, "processes": Option(8, "processes, each on a host", 1, 8), **stack_options(LAYER)}
QUICK = "scale=64 programs=sor"
VARIANTS = {"l7": ("lanai9-l7+p2-300", "scale=1 memory.bytes=134217728")}
"""Hosts and sizes of chapter 5."""
ORDER = "fft", "sor", "tsp", "jacobi"
"""Programs by improvement, largest first (paper 001, 5.5.4)."""


def check(plan: Plan) -> None:
    """Reject unknown programs, and more processes than hosts."""
    check_programs(plan)
    check_hosts(plan, "processes", int(plan.options["processes"]))


async def run(lab: Lab) -> None:
    """Run the study."""
    names = chosen(lab)
    gains = {}
    for done, name in enumerate(names):
        size, seconds = size_of(lab, name), {}
        for substrate in SUBSTRATES:
            found = await ran(lab, name, size, substrate, lab.option("processes"))
            seconds[substrate] = found.seconds
            show(lab, f"{name}_{substrate}", found)
            lab.metric(f"{name}_s_{substrate}", found.seconds)
            for share, of_share in found.shares.items():
                lab.metric(f"{name}_{share}_s_{substrate}", of_share)
            for counted, count in found.counts.items():
                lab.metric(f"{name}_{counted}_{substrate}", count)
            if messages := found.counts["messages"]:
                lab.metric(f"{name}_bytes_a_message_{substrate}", found.counts["bytes"] / messages)
        gains[name] = seconds["udp"] / seconds["bvia"]
        lab.metric(f"{name}_gain", gains[name])
        lab.progress(done + 1, len(names), "programs")
    ran_in_order = [gains[name] for name in ORDER if name in gains]
    lab.metric("gains_out_of_order", sum(first <= second for first, second in pairwise(ran_in_order)))
