"""By how much are programs on TreadMarks faster on 2 to 8 processes than on one, over UDP and over VIA?

Strategy: each program runs on one process, whose time is computing alone, then on several over each substrate (paper
001, 5.5.4); the speed-up is the quotient of the times.
"""

from __future__ import annotations

from tb.lab.lab import Lab
from tb.plan.options import Option, stack_options
from tb.studies._tmk import SUBSTRATES
from tb.studies._tmk_apps import OPTIONS as APPS
from tb.studies._tmk_apps import chosen, ran, size_of

LAYER = "tmk"
CLUSTER = "eight_hosts"
OPTIONS = {
    **APPS,
    "counts": Option("1,4,8", "numbers of processes, with commas"),
    **stack_options(LAYER),
}
QUICK = "scale=64 programs=sor counts=1,2"


async def run(lab: Lab) -> None:
    """The study."""
    names, counts = chosen(lab), [int(count) for count in lab.text("counts").split(",")]
    for done, name in enumerate(names):
        size = size_of(lab, name)
        for substrate in SUBSTRATES:
            times = [(await ran(lab, name, size, substrate, count)).seconds for count in counts]
            speeds = [times[0] / time for time in times]
            for count, speed in zip(counts, speeds, strict=True):
                lab.metric(f"{name}_speedup_{substrate}_{count}", speed)
            lab.series(f"{name}_{substrate}", counts, speeds, "processes", "times as fast")
        lab.progress(done + 1, len(names), "programs")
