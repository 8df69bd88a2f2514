"""How much faster are programs on TreadMarks over VIA than over UDP, by problem size?

Strategy: each program runs on eight processes in its sizes A to D of paper 001, 5.5.4 (TSP in three), over UDP, then
over Berkeley VIA; the improvement is the quotient of the two times.
"""

from __future__ import annotations

from firmware.applications.shared_memory import PROGRAMS
from pymodels.errors import ConfigError
from tb.lab.lab import Lab
from tb.plan.options import Option, stack_options
from tb.plan.request import Plan
from tb.studies.tmk._tmk import SUBSTRATES
from tb.studies.tmk._tmk_apps import OPTIONS as APPS
from tb.studies.tmk._tmk_apps import check_programs, chosen, ran, size_of

LAYER = "tmk"
CLUSTER = "eight_hosts"
OPTIONS = {
    **APPS,
    "programs": Option("sor,fft", "which programs, with commas"),
    "sizes": Option("AB", "which sizes, of ABCD; TSP has three"),
    **stack_options(LAYER),
}
QUICK = "scale=64 programs=sor sizes=A"
VARIANTS = {
    "l7": ("lanai9-l7+p2-300", "programs=tsp,fft sizes=ABCD scale=1 memory.bytes=134217728"),
    "l7-sor": ("lanai9-l7+p2-300", "programs=sor sizes=ABCD scale=1 memory.bytes=134217728"),
    "l7-jacobi": ("lanai9-l7+p2-300", "programs=jacobi sizes=ABCD scale=1 memory.bytes=134217728"),
}
"""Hosts and sizes of chapter 5."""


SIZES = "ABCD"


def check(plan: Plan) -> None:
    """Reject unknown programs and sizes. Raises ConfigError."""
    check_programs(plan)
    sizes = str(plan.options["sizes"])
    if not sizes or set(sizes) - set(SIZES):
        raise ConfigError("SET", 0, f"sizes: {sizes!r}", f"the sizes are {', '.join(SIZES)}", "such as sizes=AB")


async def run(lab: Lab) -> None:
    """Run the study."""
    names = chosen(lab)
    for done, name in enumerate(names):
        gains = []
        for place, letter in enumerate(SIZES[: len(PROGRAMS[name].sizes)]):
            if letter not in lab.text("sizes"):
                continue
            size = size_of(lab, name, place)
            seconds = [(await ran(lab, name, size, one, len(lab.running.hosts))).seconds for one in SUBSTRATES]
            gains.append(seconds[0] / seconds[1])
            lab.metric(f"{name}_gain_{letter}", gains[-1])
        if gains:
            lab.metric(f"{name}_gain_least", min(gains))
            lab.metric(f"{name}_gain_most", max(gains))
        lab.progress(done + 1, len(names), "programs")
