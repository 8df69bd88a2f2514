"""Up to which size does a frame of EPOS go faster by the host's stores than by DMA?

Strategy: the first host and the last one play ping-pong at random phases with messages of one frame, once stored by the
host, once fetched by DMA; half of a round trip is the one-way time. The crossing is where the two curves meet, between
the sizes that were measured; `epos.pio_limit` should stand there. `SET="epos.activate=host"` has the host start the
chain, `SET="epos.notify=word"` rings in words of the card's memory.
"""

from __future__ import annotations

import statistics

from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.epos._epos import LAYER, one_way_us, started
from tb.studies.kit.rounds import phases
from tb.studies.kit.statistics import crossing

SIZES = (16, 32, 64, 128, 192, 256, 384, 512, 768, 1024)
OPTIONS = {
    "repetitions": Option(8, "round trips of each size and way", 1, 100_000),
    **layer_options(LAYER),
}
QUICK = "repetitions=2"
VARIANTS = {"host": ("", "epos.activate=host"), "word": ("", "epos.notify=word")}


async def run(lab: Lab) -> None:
    """The study."""
    hosts = await started(lab)
    sizes = [size for size in SIZES if size <= hosts[0].options.mtu]
    curves: dict[str, list[float]] = {"pio": [], "dma": []}
    for done, size in enumerate(sizes):
        for way, limit in (("pio", size), ("dma", 0)):
            for host in hosts:
                host.outgoing.pio_limit = limit
            data, pause = bytes(at & 0xFF for at in range(size)), phases(f"{lab.seed} {size}")
            took = await one_way_us(lab, hosts[0], hosts[-1], data, lab.option("repetitions"), pause)
            curves[way].append(statistics.mean(took))
            lab.metric(f"one_way_us_{size}B_{way}", curves[way][-1])
        lab.progress(done + 1, len(sizes), "sizes")
    for way, curve in curves.items():
        lab.series(f"one_way_{way}", sizes, curve, "B", "us")
    lab.metric("pio_limit_crossing_B", crossing(sizes, curves["pio"], curves["dma"]))
