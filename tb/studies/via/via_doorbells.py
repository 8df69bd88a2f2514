"""What does it cost to learn of a posted descriptor, over the number of VIs: polled words, a central queue, a FIFO?

Strategy (paper 001, 2.2.1): pairs of hosts differ in the doorbell. Round trips are timed over one connection, while a
growing number of other VIs are connected and idle. A NIC that polls a word per VI reads all of them before it finds the
message; the cost of a central queue, filled by the kernel, and of a FIFO in hardware does not grow. The FIFO is left
out where the NIC has none.
"""

from __future__ import annotations

from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.kit.findings import curve
from tb.studies.kit.statistics import slope
from tb.studies.via._via_case import Case
from tb.studies.via._via_ends import SMALL, pairs
from tb.studies.via._via_rounds import Link

LAYER = "via"
CLUSTER = "eight_hosts"
SIZE = 4
CHOICES: dict[str, dict[str, float | str]] = {
    "d1_word": {"doorbell": "d1_word", "translation": "at2"},
    "d1_ring": {"doorbell": "d1_ring", "translation": "at2"},
    "d2": {"doorbell": "d2", "translation": "at1"},
    "hw": {"doorbell": "hw", "translation": "at2"},
}
OPTIONS = {
    "rounds": Option(10, "round trips of each point", 2, 100_000),
    "vis": Option(32, "maximum number of connected VIs; measured at 1, 2, 4, ...", 2, 46),
    **layer_options(LAYER),
}
QUICK = "rounds=4 vis=8"


async def run(lab: Lab) -> None:
    """Run the study."""
    counts = [1 << i for i in range(lab.option("vis").bit_length())]
    choices = {
        name: options for name, options in CHOICES.items() if name != "hw" or lab.plan.profile.card.has_doorbells
    }
    ends = await pairs(lab, choices, SMALL)
    for done, (choice, (near, far)) in enumerate(ends.items()):
        link = await Link.make(near, far, Case(SIZE), lab.option("rounds"))
        times = []
        for count in counts:
            await link.widen(count)
            times.append((await link.round_trips(lab.option("rounds"))).value)
        lab.metric(f"us_per_vi_{choice}", slope(counts, times))
        curve(lab, choice, counts, times, "connected VIs", "us", f"one_way_us_{choice}_{{}}_vis")
        lab.progress(done + 1, len(ends), "doorbells")
    grown = {choice: lab.findings.metrics[f"us_per_vi_{choice}"] for choice in choices}
    lab.metric("d1_ring_over_d2_growth", grown["d1_ring"] - grown["d2"])
    lab.check(
        "cost of polling each VI",
        grown["d1_ring"] > grown["d2"],
        "polling a word of each VI does not cost more with more VIs than one queue",
    )
