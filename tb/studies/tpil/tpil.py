"""Which method moves bytes fastest from host memory into a card at each size, and does TPIL choose it?

Strategy: TPIL's benchmark measures aligned and misaligned transfers. Methods are words, write-combined stores of MMX
and SSE registers, and DMA by the FPGA card with and without a bounce copy. Its cut-offs are then checked at sizes that
are not in the benchmark. There every method is timed until a read behind the bytes returns. The loss is the chosen
method's time over the best one's, less 1. The bytes of every transfer are compared in the card's memory.
`SET="fpga.width=64 fpga.mhz=66"` puts the card on a 64-bit bus of 66 MHz.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.random import default_rng

from firmware.grim.nic.cards import CARD
from firmware.tpil.host import CardDma, Config, Method, create
from firmware.tpil.host.library import SIZES
from pymodels.card.registers import BANK_BYTES, BANKS
from pymodels.config.model import FPGA_CARD
from pymodels.costs.table import PathTable
from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.plan.request import Plan, check_host
from tb.studies.cards._cards import PICOSECONDS, check_card

CLUSTER = "two_cards"
ROOM = 8
"""Extra bytes of the source, for its misalignment."""
PLACES = {"aligned": 0, "askew": 4}
"""Offset of the source in bytes, by class of transfer."""
OPTIONS = {
    "largest": Option(12288, "largest transfer in bytes", 64, 1 << 20, unit="bytes"),
    "sse": Option(1, "1: the host's CPU has SSE registers (a Pentium II has not)", 0, 1),
}
QUICK = "largest=4096"


def check(plan: Plan) -> None:
    """Check that the first host has an FPGA card and a processor for which TPIL is compiled."""
    check_host("tpil", plan.profile)
    check_card(plan, 0, FPGA_CARD)


async def run(lab: Lab) -> None:
    """Run the study."""
    card = _Card(lab)
    benchmark = [size for size in SIZES if size <= lab.option("largest")]
    config = await card.tpil.benchmark(benchmark)
    card.tpil.configure(config)
    _hand_in(lab, config)
    worst = 0.0
    sizes = unseen(benchmark)
    for place, skew in PLACES.items():
        times = {}
        for method in card.methods(skew):
            measured = times[method] = [await card.time(method, skew, size) for size in sizes]
            rates = [size / ps * PICOSECONDS for size, ps in zip(sizes, measured, strict=True)]
            lab.series(f"{method.value}_{place}", sizes, rates, "B", "MB/s")
            lab.metric(f"{method.value}_{place}_MBps_{sizes[-1]}B", rates[-1])
        chosen = [config.choose(skew, 0, size) for size in sizes]
        taken = [times[method][i] for i, method in enumerate(chosen)]
        rates = [size / ps * PICOSECONDS for size, ps in zip(sizes, taken, strict=True)]
        lab.series(f"envelope_{place}", sizes, rates, "B", "MB/s")
        losses = [ps / min(measured[i] for measured in times.values()) - 1 for i, ps in enumerate(taken)]
        lab.metric(f"worst_loss_{place}", max(losses))
        lab.metric(f"worst_loss_at_B_{place}", sizes[int(np.argmax(losses))])
        worst = max(worst, *losses)
        lab.progress(list(PLACES).index(place) + 1, len(PLACES), "places")
    lab.metric("tpil_worst_loss", worst)


def unseen(seen: list[int]) -> list[int]:
    """Return a size between every two neighbouring benchmark sizes, where a multiple of 4 fits."""
    between = [(low + high) // 8 * 4 for low, high in pairwise(seen)]
    return sorted(set(between) - set(seen))


def _hand_in(lab: Lab, config: Config) -> None:
    """Record the cut-offs: smallest size of each method."""
    for place, cuts in (("aligned", config.aligned), ("askew", config.askew)):
        for number, (first, method) in enumerate(cuts):
            lab.metric(f"cutoff_{place}_{number}_{method.value}_B", first)


class _Card:
    """FPGA card of host 0 as a TPIL device."""

    def __init__(self, lab: Lab) -> None:
        host = lab.running.hosts[0]
        host.use(PathTable.of_host("tpil", lab.plan.profile.host_target))
        self._lab, self._host, self._turn = lab, host, 0
        self.tpil = create(host, CARD, BANKS * BANK_BYTES, CardDma(host, CARD), sse=bool(lab.option("sse")))
        self._source = host.allocate(lab.option("largest") + ROOM)

    def methods(self, skew: int) -> tuple[Method, ...]:
        """Return the available methods for a source with the given offset."""
        return self.tpil.methods(aligned=skew == 0)

    async def time(self, method: Method, skew: int, size: int) -> int:
        """Transfer new bytes and compare them in the card. Return the time in ps."""
        self._turn += 1
        data = default_rng([self._lab.seed, self._turn]).integers(0, 256, size, dtype=np.uint8).tobytes()
        source = self._source.address + skew
        self._host.store_bytes(source, data)
        duration = await self.tpil.time(method, 0, source, size)
        came = bytes(self._lab.running.banks[0][:size])
        self._lab.check(came == data, f"{size} bytes by {method.value} arrived corrupted")
        self._lab.findings.messages += 1
        return duration
