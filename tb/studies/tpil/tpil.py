"""Which method moves bytes fastest from host memory into a card at each size, and does TPIL choose it?

Strategy: TPIL's benchmark measures aligned and misaligned transfers. Methods are words, write-combined stores of MMX
and SSE registers, and DMA by the FPGA card with and without a bounce copy. Its cut-offs are then checked at sizes that
are not in the benchmark. There every method is timed until a read behind the bytes returns. The loss is the chosen
method's time over the best one's, less 1. The bytes of every transfer are compared in the card's memory.
`SET="fpga.width=64 fpga.mhz=66"` puts the card on a 64-bit bus of 66 MHz.

`SET="card=FRAME_BUFFER"` and `SET="card=MYRI"` measure the CPU's methods with a display or the NIC's SRAM as the
target. The result is in `tpil.toml`, for `read_config`, and in `tpil.h`, for C programs. Then transfers of any size
and alignment, two at once, are compared with the card's memory.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.random import default_rng

from firmware.tpil.host import CardDma, Config, Method, create, write_config, write_header
from firmware.tpil.host.library import SIZES
from pymodels.card.registers import BANK_BYTES, BANKS
from pymodels.cards import SLOT, SLOT_BYTES
from pymodels.config.model import CARDS, FPGA_CARD, FRAME_CARD, IO_CARD, NETWORK_CARD
from pymodels.costs.table import PathTable
from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.plan.request import Plan, check_host
from tb.studies.cards._cards import PICOSECONDS, check_card

CLUSTER = "two_cards"
HALF = 160
"""Bytes of the card for each of two transfers at once."""
ROOM = 8
"""Extra bytes of the source, for its misalignment."""
PLACES = {"aligned": 0, "askew": 4}
"""Offset of the source in bytes, by class of transfer."""
OPTIONS = {
    "largest": Option(12288, "largest transfer in bytes", 64, 1 << 20, unit="bytes"),
    "card": Option(
        FPGA_CARD,
        "card into which the host moves data, of the first host that has one",
        choices=CARDS[: CARDS.index(IO_CARD)],
    ),
    "odd": Option(24, "transfers of random size and alignment, two at once", 0, 10_000),
    "sse": Option(1, "1: the host's CPU has SSE registers (a Pentium II has not)", 0, 1),
}
QUICK = "largest=4096"
FILE, HEADER = "tpil.toml", "tpil.h"
"""Files of the measured configuration in the run's folder."""


def check(plan: Plan) -> None:
    """Check that a host has the card, and a processor for which TPIL is compiled."""
    check_host("tpil", plan.profile)
    kind = str(plan.options["card"])
    check_card(plan, _node(plan, kind), kind)


def _node(plan: Plan, kind: str) -> int:
    """Return the first host with a card, or host 0 if none has one."""
    return next((host.vnn for host in plan.cluster.hosts if kind in host.cards), 0)


async def run(lab: Lab) -> None:
    """Run the study."""
    card = _Card(lab)
    benchmark = [size for size in SIZES if size <= lab.option("largest")]
    config = await card.tpil.benchmark(benchmark)
    card.tpil.configure(config)
    _hand_in(lab, config)
    folder = Path(lab.plan.request.folder)
    write_config(folder / FILE, config)
    write_header(folder / HEADER, config)
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
    await card.odd(lab.option("odd"))


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
    """Card of a host as a TPIL device."""

    def __init__(self, lab: Lab) -> None:
        kind = lab.text("card")
        node = _node(lab.plan, kind)
        host = lab.running.hosts[node]
        host.use(PathTable.of_host("tpil", lab.plan.profile.host_target))
        self._lab, self._host, self._turn = lab, host, 0
        window, dma = SLOT + CARDS.index(kind) * SLOT_BYTES, None
        if kind == NETWORK_CARD:
            window, self._memory = host.nic_base, lab.running.nics[node].sram
        elif kind == FRAME_CARD:
            self._memory = lab.running.frames[node]
        else:
            self._memory, dma = lab.running.banks[node], CardDma(host, window)
        size = min(len(self._memory), BANKS * BANK_BYTES)
        self.tpil = create(host, window, size, dma, sse=bool(lab.option("sse")))
        self._source = host.allocate(max(lab.option("largest"), 2 * HALF) + ROOM)

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
        came = bytes(self._memory[:size])
        self._lab.check(f"bytes by {method.value}", came == data, f"{size} bytes arrived corrupted")
        self._lab.findings.messages += 1
        return duration

    async def odd(self, count: int) -> None:
        """Make transfers of random size and alignment, two at once, and compare the bytes and those around them."""
        draw = default_rng([self._lab.seed, count])
        for _ in range(0, count, 2):
            offsets, sizes = draw.integers(0, ROOM, (2, 2)), draw.integers(1, HALF - ROOM, 2)
            before = draw.integers(0, 256, 2 * HALF, dtype=np.uint8).tobytes()
            await self.tpil.move(Method.WORDS, 0, self._stored(before), 2 * HALF)
            data = draw.integers(0, 256, HALF + ROOM, dtype=np.uint8).tobytes()
            source, meant, moves = self._stored(data), bytearray(before), []
            for place in range(2):
                at, target, size = int(offsets[place][0]), HALF * place + int(offsets[place][1]), int(sizes[place])
                method = self.tpil.methods(not (source + at ^ target) & 7)
                chosen = method[int(draw.integers(len(method)))]
                meant[target : target + size] = data[at : at + size]
                moves.append(self._lab.spawn(self.tpil.move(chosen, target, source + at, size), f"transfer {place}"))
            await self._lab.all(moves)
            await self._host.pio_read(self.tpil.window)
            self._lab.check("bytes of two transfers", bytes(self._memory[: 2 * HALF]) == meant, "other bytes changed")

    def _stored(self, data: bytes) -> int:
        """Store bytes into the source, and return its address."""
        self._host.store_bytes(self._source.address, data)
        return self._source.address
