"""Does shared memory return the right value for every read, and as many faults as the protocol requires?

Strategy: a random program without data races, drawn from the run's seed: locks, barriers, computing, words of all
owners in the same pages (`_tmk_random.py`). Each read is compared with the memory of a sequential execution. A model
with sets of intervals instead of vectors gets the schedule and must count the same faults, twins, diffs, notices and
intervals. With a small `tmk.collect_bytes` records are collected, which the model does not cover: then only reads are
compared.
"""

from __future__ import annotations

from tb.lab.lab import Lab
from tb.plan.options import Option, stack_options
from tb.studies.tmk._tmk import bring_up, check
from tb.studies.tmk._tmk_random import Watched

LAYER = "tmk"
CLUSTER = "eight_hosts"
OPTIONS = {
    "phases": Option(4, "times between two barriers", 1, 1000),
    "shared": Option(0, "pages of shared memory; 0: 1 to 3, by the seed", 0, 64),
    **stack_options(LAYER),
}
QUICK = "phases=2"
PROCESSES = 7
"""Numbers of processes drawn by the seed when `tmk.processes` is 0."""
COUNTED = "faults", "twins", "diffs", "notices", "intervals"


__all__ = ["check", "run"]


async def run(lab: Lab) -> None:
    """Run the study."""
    seed = lab.seed
    processes = lab.option("tmk.processes") or min(2 + seed % PROCESSES, len(lab.running.hosts))
    all_of = await bring_up(lab, processes=processes)
    told = lab.option("tmk.collect_bytes") >= 1 << 20
    watched = Watched(all_of, lab.option("shared") or 1 + seed % 3, told)
    phases = lab.option("phases")
    await lab.all([lab.spawn(watched.program(tmk, seed, phases), tmk.process.who) for tmk in all_of])
    run_counts, model = watched.counts()
    for name in COUNTED:
        lab.metric(name, sum(run_counts[name]))
        told_same = run_counts[name] == model[name]
        lab.check(
            f"number of {name}",
            not told or told_same,
            f"{name} are {run_counts[name]}, and the model counts {model[name]}",
        )
    lab.metric("processes", processes)
    lab.metric("reads", watched.reads)
    lab.metric("resent", sum(getattr(tmk._substrate, "resent", 0) for tmk in all_of))
    lab.metric("collections", all_of[0].barriers.collections)
    lab.findings.messages += sum(tmk.sent for tmk in all_of)
