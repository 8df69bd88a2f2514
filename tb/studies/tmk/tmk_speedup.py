"""What is the speed-up of programs on TreadMarks on 2 to 8 processes, over UDP and over VIA?

Strategy: each program runs on one process, whose time is pure computation, then on several over each substrate (paper
001, 5.5.4); the speed-up is the quotient of the times. VIA should be ahead of UDP everywhere. Numbers of processes that
are not powers of two should be behind the next power of two.
"""

from __future__ import annotations

from tb.lab.lab import Lab
from tb.plan.options import Option, stack_options
from tb.plan.request import Plan
from tb.studies.tmk._tmk import SUBSTRATES, check_counts
from tb.studies.tmk._tmk_apps import OPTIONS as APPS
from tb.studies.tmk._tmk_apps import check_programs, chosen, ran, size_of

LAYER = "tmk"
CLUSTER = "eight_hosts"
OPTIONS = {
    **APPS,
    "counts": Option("1,4,8", "numbers of processes, with commas"),
    **stack_options(LAYER),
}
QUICK = "scale=64 programs=sor counts=1,2"
VARIANTS = {
    "l7": ("lanai9-l7+p2-300", "programs=fft scale=1 counts=1,4,8"),
    "l7-sor": (
        "lanai9-l7+p2-300",
        "programs=sor scale=1 counts=1,8 run.hang_us=100000000 memory.bytes=134217728",
    ),
    "l7-jacobi": ("lanai9-l7+p2-300", "programs=jacobi scale=1 counts=1,8 run.hang_us=100000000"),
}
"""Hosts and sizes of chapter 5; the page of TreadMarks has the other programs' settings."""


def check(plan: Plan) -> None:
    """Reject unknown programs, invalid numbers, and more processes than hosts."""
    check_programs(plan)
    check_counts(plan)


async def run(lab: Lab) -> None:
    """Run the study."""
    names, counts = chosen(lab), [int(count) for count in lab.text("counts").split(",")]
    behind = 0
    for done, name in enumerate(names):
        size, speeds = size_of(lab, name), {}
        for substrate in SUBSTRATES:
            times = [(await ran(lab, name, size, substrate, count)).seconds for count in counts]
            speeds[substrate] = [times[0] / time for time in times]
            for count, speed in zip(counts, speeds[substrate], strict=True):
                lab.metric(f"{name}_speedup_{substrate}_{count}", speed)
            by_count = dict(zip(counts, times, strict=True))
            if {4, 8} <= by_count.keys():
                lab.metric(f"{name}_{substrate}_8_over_4", by_count[4] / by_count[8])
            lab.series(f"{name}_{substrate}", counts, speeds[substrate], "processes", "times as fast")
        behind += sum(bvia < udp for udp, bvia in zip(speeds["udp"], speeds["bvia"], strict=True))
        lab.progress(done + 1, len(names), "programs")
    lab.metric("points_where_udp_is_ahead", behind)
