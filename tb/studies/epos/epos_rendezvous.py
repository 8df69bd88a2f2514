"""From which size on is a message of EPOS faster through a posted buffer, with three copies?

Strategy: the first and the last host play ping-pong, once through staging slots (four copies), once with all messages
by rendezvous with buffers posted before. The request for the buffer costs a round trip of the NICs, and the copy from
staging is saved. The crossover is where the curves meet, interpolated between the measured sizes. `epos_pipeline`
counts the bytes moved by DMA and CPU.
"""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from firmware.epos.host import MemoryRange
from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.epos._epos import LAYER, one_way_us, started
from tb.studies.kit.findings import curve
from tb.studies.kit.statistics import crossing

if TYPE_CHECKING:
    from firmware.epos.host import Epos

SIZES = (64, 256, 512, 1024, 2048, 4096, 8192, 16384)
_FIXED = ("epos.protocols", "epos.rendezvous_from")
_WAYS = {"staging": 1 << 20, "rendezvous": 1}
OPTIONS = {
    "repetitions": Option(1, "round trips of each size and way", 1, 100_000),
    "largest": Option(8192, "bytes of the largest message", 256, 16384, unit="bytes"),
    **{name: one for name, one in layer_options(LAYER).items() if name not in _FIXED},
}
QUICK = "largest=2048"
TINY = "repetitions=1 largest=256"


async def run(lab: Lab) -> None:
    """Run the study."""
    curves: dict[str, list[float]] = {}
    sizes = [size for size in SIZES if size <= lab.option("largest")]
    for way, begin in _WAYS.items():
        hosts = await started(lab, {"protocols": "rendezvous", "rendezvous_from": begin})
        near, far = hosts[0], hosts[-1]
        curves[way] = [await _mean(lab, near, far, size, way == "rendezvous") for size in sizes]
        curve(lab, f"one_way_{way}", sizes, curves[way], "B", "us", f"one_way_us_{{}}B_{way}")
        await lab.change_layers()
    lab.metric("crossing_B", crossing(sizes, curves["staging"], curves["rendezvous"]))


async def _mean(lab: Lab, near: Epos, far: Epos, size: int, posted: bool) -> float:
    """Return the mean one-way time in us; buffers are posted before the measurement."""
    data, took = bytes(at & 0xFF for at in range(size)), list[float]()
    for _ in range(lab.option("repetitions")):
        for one, other in ((near, far), (far, near)) if posted else ():
            await one.post(other.me, MemoryRange(one.host.allocate(size).address, size))
        took += await one_way_us(lab, near, far, data, 1)
    return statistics.mean(took)
