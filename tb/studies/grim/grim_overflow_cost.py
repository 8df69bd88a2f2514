"""What does the overflow queue cost handlers that reply while the queues have room, the common case?

Strategy: two pairs of hosts, one with the overflow queue and one without (paper 000, 4.4.3: "little penalty to the
common case"). Each sends messages back and forth on an idle network, with the replies from handlers, over sizes. The
queue stays empty, so the difference is the check for that.
"""

from __future__ import annotations

from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.studies.grim._grim import RoundTrips, start_pairs
from tb.studies.kit.findings import curve

LAYER = "grim"
CLUSTER = "four_hosts"
WAYS = ("without", "with")
"""Names of the values 0 and 1 of the option `overflow`."""
SIZES = (0, 256, 4096)
OPTIONS = {"repetitions": Option(10, "round trips of each size", 1, 10_000)}
QUICK = "repetitions=4"


async def run(lab: Lab) -> None:
    """Run the study."""
    choices = [{"overflow": on} for on in range(len(WAYS))]
    pairs = await start_pairs(lab, choices, lambda i, near, far: RoundTrips(lab, WAYS[i], near, far, max(SIZES)))
    times = []
    for done, pair in enumerate(pairs):
        times.append([await pair.one_way_us(size, lab.option("repetitions")) for size in SIZES])
        curve(lab, f"one_way_{pair.name}", SIZES, times[-1], "B", "us", f"one_way_us_{pair.name}_{{}}B")
        lab.progress(done + 1, len(pairs), "pairs")
    for size, without, using in zip(SIZES, *times, strict=True):
        lab.metric(f"penalty_percent_{size}B", 100 * (using / without - 1))
