"""Up to which size is a frame of EPOS faster by the host's stores than by DMA?

Strategy: the first and the last host play ping-pong at random phases with messages of one frame, once stored by the
host, once fetched by DMA; half of a round trip is the one-way time. The crossover is where the two curves meet,
interpolated between the measured sizes; it is the best value of `epos.pio_limit`. With `SET="epos.activate=host"` the
host starts the chain, with `SET="epos.notify=word"` doorbells are words of the card's memory.
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
    """Run the study."""
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
