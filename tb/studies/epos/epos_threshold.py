"""Up to which size does a frame of EPOS go faster by the host's stores than by DMA?

Strategy: the first host and the last one play ping-pong at random phases with messages of one frame, once stored by the
host, once fetched by DMA; half of a round trip is the one-way time. The crossing is where the two curves meet, between
the sizes that were measured; `epos.pio_limit` should stand there. `SET="epos.activate=host"` has the host start the
chain, `SET="epos.notify=word"` rings in words of the card's memory.
"""

from __future__ import annotations

import random
import statistics
from typing import TYPE_CHECKING, Any

from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options

if TYPE_CHECKING:
    from firmware.epos.host import Epos

LAYER = "epos"
SIZES = (16, 32, 64, 128, 192, 256, 384, 512, 768, 1024)
PHASES_PS = 3_000_000
OPTIONS = {
    "repetitions": Option(8, "round trips of each size and way", 1, 100_000),
    **layer_options(LAYER),
}
QUICK = "repetitions=2"
VARIANTS = {"host": ("", "epos.activate=host"), "word": ("", "epos.notify=word")}


async def run(lab: Lab) -> None:
    """The study."""
    hosts: list[Any] = lab.start_layer(LAYER)
    await lab.all([lab.spawn(host.start(), f"start of {host.me}") for host in hosts])
    sizes = [size for size in SIZES if size <= hosts[0].options.mtu]
    curves: dict[str, list[float]] = {"pio": [], "dma": []}
    for done, size in enumerate(sizes):
        for way, limit in (("pio", size), ("dma", 0)):
            for host in hosts:
                host.outgoing.pio_limit = limit
            curves[way].append(await _one_way(lab, hosts[0], hosts[-1], size))
            lab.metric(f"one_way_us_{size}B_{way}", curves[way][-1])
        lab.progress(done + 1, len(sizes), "sizes")
    for way, curve in curves.items():
        lab.series(f"one_way_{way}", sizes, curve, "B", "us")
    lab.metric("pio_limit_crossing_B", crossing(sizes, curves["pio"], curves["dma"]))


async def _one_way(lab: Lab, near: Epos, far: Epos, size: int) -> float:
    """Half of a round trip, us."""
    phases, data, took = random.Random(f"{lab.seed} {size}"), bytes(at & 0xFF for at in range(size)), list[float]()
    for _ in range(lab.option("repetitions")):
        await lab.kernel.sleep(phases.randrange(PHASES_PS), "the next round trip")
        answers, begun = lab.spawn(_answer(far), "the far host"), lab.kernel.now
        await near.send(far.me, data)
        lab.check((await near.receive()).data == data, f"{size} bytes came back changed")
        took.append((lab.kernel.now - begun) / 2e6)
        await lab.all([answers])
    lab.findings.messages += 2 * len(took)
    return statistics.mean(took)


async def _answer(host: Epos) -> None:
    """Send one message back."""
    message = await host.receive()
    await host.send(message.source, message.data)


def crossing(sizes: list[int], pio: list[float], dma: list[float]) -> float:
    """Where the second curve falls below the first one, by straight lines between the points; the last size if it
    never does, 0 if it is below from the start.
    """
    gaps = [slow - fast for slow, fast in zip(pio, dma, strict=True)]
    if gaps[0] > 0:
        return 0.0
    for at in range(1, len(sizes)):
        if gaps[at] > 0:
            share = -gaps[at - 1] / (gaps[at] - gaps[at - 1])
            return sizes[at - 1] + share * (sizes[at] - sizes[at - 1])
    return float(sizes[-1])
