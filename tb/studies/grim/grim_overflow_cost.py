"""What does the overflow queue cost handlers that reply while there is room, as there is nearly always?

Strategy: two pairs of hosts, one with the overflow queue and one without (paper 000, 4.4.3: "little penalty to the
common case"). Each sends messages back and forth on an idle network, the answers from within handlers, over sizes. The
queue stays empty, so what differs is the look whether it is.
"""

from __future__ import annotations

from typing import Any

from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.studies.grim._grim import RoundTrips, bring_up

LAYER = "grim"
CLUSTER = "four_hosts"
WAYS = ("without", "with")
"""By the option `overflow`."""
SIZES = (0, 256, 4096)
OPTIONS = {"repetitions": Option(10, "round trips of each size", 1, 10_000)}
QUICK = "repetitions=4"


async def run(lab: Lab) -> None:
    """The study."""
    of_host = {vnn: {"overflow": vnn // 2} for vnn in range(2 * len(WAYS))}
    libraries: list[Any] = lab.start_layer(LAYER, {}, of_host)
    pairs = [RoundTrips(lab, way, libraries[2 * i], libraries[2 * i + 1], max(SIZES)) for i, way in enumerate(WAYS)]
    handlers = [one for pair in pairs for one in pair.handlers()]
    await bring_up(lab, libraries, [*handlers, *({} for _ in libraries[len(handlers) :])])
    times = []
    for done, pair in enumerate(pairs):
        times.append([await pair.one_way_us(size, lab.option("repetitions")) for size in SIZES])
        for size, us in zip(SIZES, times[-1], strict=True):
            lab.metric(f"one_way_us_{pair.name}_{size}B", us)
        lab.series(f"one_way_{pair.name}", SIZES, times[-1], "B", "us")
        lab.progress(done + 1, len(pairs), "pairs")
    for size, without, using in zip(SIZES, *times, strict=True):
        lab.metric(f"penalty_percent_{size}B", 100 * (using / without - 1))
