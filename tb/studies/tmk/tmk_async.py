"""How should a process notice Requests over VIA: by timer, polling, interrupt or thread (paper 001, 5.4)?

Strategy: SOR and Jacobi run on eight processes over Berkeley VIA under each scheme. The programs are the same; they
poll where they read, compute and write a block.
"""

from __future__ import annotations

from tb.lab.lab import Lab
from tb.plan.options import Option, stack_options
from tb.studies.tmk._tmk_apps import OPTIONS as APPS
from tb.studies.tmk._tmk_apps import check_programs, chosen, ran, size_of

LAYER = "tmk"
CLUSTER = "eight_hosts"
SCHEMES = "timer", "polling", "interrupt", "thread"
OPTIONS = {
    "programs": Option("sor,jacobi", "which programs, with commas"),
    "scale": APPS["scale"],
    **stack_options(LAYER),
}
QUICK = "scale=64 programs=sor"
VARIANTS = {"l7": ("lanai9-l7+p2-300", "scale=4")}
"""Hosts of chapter 5."""


check = check_programs


async def run(lab: Lab) -> None:
    """Run the study."""
    names = chosen(lab)
    for done, name in enumerate(names):
        size, processes = size_of(lab, name), len(lab.running.hosts)
        times = {one: (await ran(lab, name, size, "bvia", processes, scheme=one)).seconds for one in SCHEMES}
        for scheme, seconds in times.items():
            lab.metric(f"{name}_s_{scheme}", seconds)
        lab.metric(f"{name}_interrupt_least", float(min(times, key=times.__getitem__) == "interrupt"))
        lab.metric(f"{name}_thread_over_timer", times["thread"] / times["timer"])
        lab.progress(done + 1, len(names), "programs")
