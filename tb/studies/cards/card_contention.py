"""What rate remains for NIC-to-card DMA when the NIC, the host and the card compete for one PCI bus?

Strategy: host 0 sends 4 KB messages in five phases: to the card of host 1 one at a time; to the card back to back; to
host 1's handler back to back; to both alternately; and to both while the card's results return to the NIC over the same
bus. Each DMA to the card is timed in the trace from its start to its end. Messages to the card are recognised by their
length. The rate is divided by the burst limit of the bus, its width times its clock. Rates are those of arrival. The
utilisation of the bus is the number of busy clocks counted in the RTL.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import default_rng
from numpy.typing import NDArray

from firmware.grim.formats import HEADER_BYTES
from pymodels.card.registers import Forward
from pymodels.trace import Part, TraceEvent, unit
from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.plan.settings import card_period, pci_period
from tb.studies.cards._cards import (
    CARD_OPTIONS,
    CLUSTER,
    LAYER,
    NEEDS,
    PICOSECONDS,
    SETTLE_PS,
    Pair,
    check,
    first_after,
)
from tb.studies.kit.records import times
from tb.studies.kit.stream import steady_rate

__all__ = ["CLUSTER", "LAYER", "NEEDS", "check", "run"]
TO_CARD, TO_HOST = 4096, 4088
"""Payload bytes of messages to the card."""
PHASES = {
    "lone": ("card",),
    "card": ("card",),
    "host": ("host",),
    "both": ("card", "host"),
    "both_and_results": ("card", "host"),
}
"""Targets of each phase, used alternately."""
OPTIONS = {"messages": Option(8, "messages of each kind in a phase", 2, 10_000), **CARD_OPTIONS}
QUICK = "messages=4 fpga.image_bytes=3200"


async def run(lab: Lab) -> None:
    """Run the study."""
    bus = _Bus(lab)
    await bus.enable()
    spans = {}
    for number, phase in enumerate(PHASES):
        spans[phase] = await bus.run(phase)
        lab.progress(number + 1, len(PHASES), "phases")
    trace = lab.trace()
    limit = _burst_limit(lab)
    lab.metric("burst_limit_MBps", limit)
    for phase, kinds in PHASES.items():
        _hand_in(lab, trace, phase, spans[phase], limit if "card" in kinds else 0.0)
    lab.metric("p2p_share_of_burst_limit_4096B", lab.findings.metrics["p2p_share_lone"])


def _burst_limit(lab: Lab) -> float:
    """Return the rate of the bus between NIC and card with one transfer per clock, in MB/s."""
    profile = lab.plan.profile
    width = min(profile.integer("pci.width"), profile.integer("fpga.width"))
    return width / 8 / card_period(profile) * PICOSECONDS


def _hand_in(lab: Lab, trace: NDArray[np.void], phase: str, span: tuple[int, int], limit: float) -> None:
    """Record the metrics of one phase between two times; `limit` 0: no messages to the card."""
    begin, end = span
    inside = trace[(trace["time"] > begin) & (trace["time"] <= end)]
    if limit:
        durations = _to_card(inside)
        rates = (TO_CARD + HEADER_BYTES) / durations * PICOSECONDS
        lab.metric(f"p2p_share_{phase}", float(np.median(rates)) / limit)
        lab.metric(f"p2p_us_longest_{phase}", float(durations.max()) / PICOSECONDS)
        taken = times(inside, 1, Part.FPGA, TraceEvent.CARD_TAKE).tolist()
        lab.metric(f"card_MBps_{phase}", steady_rate(TO_CARD, taken))
    handled = times(inside, 1, Part.HOST_CPU, TraceEvent.HANDLER_START)
    if len(handled):
        lab.metric(f"host_MBps_{phase}", steady_rate(TO_HOST, handled.tolist()))
    used = inside["argument"][(inside["unit"] == unit(1, Part.PCI)) & (inside["event"] == TraceEvent.PCI_USE)]
    period = pci_period(lab.plan.profile, has_fpga=True)
    lab.metric(f"bus_use_{phase}", float(used.sum()) * period / (end - begin))


def _to_card(trace: NDArray[np.void]) -> NDArray[np.int64]:
    """Return the duration of each DMA of a message to the card, in ps; shape (n,)."""
    dma = trace[(trace["unit"] == unit(1, Part.HOST_DMA)) & (trace["argument2"] == -(TO_CARD + HEADER_BYTES))]
    starts = dma["time"][dma["event"] == TraceEvent.DMA_START]
    ends = np.sort(dma["time"][dma["event"] == TraceEvent.DMA_DONE])
    return np.array([first_after(ends, int(start)) - int(start) for start in starts if start < ends[-1]])


class _Bus:
    """Host 0 as sender, and the bus of host 1 under observation."""

    def __init__(self, lab: Lab) -> None:
        self._lab, self._pair = lab, Pair(lab)
        self._count = {"card": 0, "host": 0, "back": 0}
        self._data = default_rng(lab.seed).integers(0, 256, TO_CARD, dtype=np.uint8).tobytes()

    async def enable(self) -> None:
        """Start both hosts."""
        await self._pair.enable([{"back": self._on_back}, {"sink": self._on_sink}], ["loopback"])

    async def run(self, phase: str) -> tuple[int, int]:
        """Send the messages of a phase; return its start and end, in ps."""
        lab, pair, kinds = self._lab, self._pair, PHASES[phase]
        count = lab.option("messages")
        results = phase.endswith("results")
        back = (Forward.ENDPOINT, pair.host(0), pair.number["back"]) if results else (Forward.NOWHERE,)
        await pair.near.forward(pair.cards[1], "loopback", *back)
        await lab.kernel.sleep(SETTLE_PS, "the table to be set")
        self._count = dict.fromkeys(self._count, 0)
        serving = (
            lab.spawn(pair.far.wait_for(lambda: self._count["host"] == count), "host 1") if "host" in kinds else None
        )
        begin = lab.kernel.now
        for _ in range(count):
            for kind in kinds:
                await self._send(kind)
            if phase == "lone":
                await lab.kernel.sleep(2 * SETTLE_PS, "the card to be idle")
        lab.findings.messages += count * len(kinds)
        if serving is not None:
            await serving.finished
        if results:
            await pair.near.wait_for(lambda: self._count["back"] == count)
        while "card" in kinds and self._taken(begin) < count:
            await lab.kernel.sleep(SETTLE_PS, "the card to process the rest")
        return begin, lab.kernel.now

    async def _send(self, kind: str) -> None:
        pair, number = self._pair, self._pair.number
        if kind == "card":
            await pair.near.send(pair.cards[1], number["loopback"], payload=self._data)
        else:
            await pair.near.send(pair.host(1), number["sink"], payload=self._data[:TO_HOST])

    def _taken(self, begin: int) -> int:
        """Return the number of messages that the card has processed since a time."""
        takes = times(self._lab.trace(), 1, Part.FPGA, TraceEvent.CARD_TAKE)
        return int(np.count_nonzero(takes > begin))

    def _on_sink(self, source: int, a0: int, a1: int, a2: int, a3: int, payload: Any) -> None:
        self._lab.check(
            "messages to the host", payload == self._data[:TO_HOST], "a message to the host arrived corrupted"
        )
        self._count["host"] += 1

    def _on_back(self, source: int, a0: int, a1: int, a2: int, a3: int, payload: Any) -> None:
        self._lab.check("results of the card", payload == self._data, "a result of the card arrived corrupted")
        self._count["back"] += 1
