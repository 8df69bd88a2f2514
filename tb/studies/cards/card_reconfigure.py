"""What happens to messages for an FPGA card whose image is swapped under load: are all held, and how long is the gap?

Strategy: host 0 sends messages to the card of host 1 at a constant rate. Half of them arrive while the image is being
loaded. In the second half, every other message is for a circuit that only the new image has. Results return to host 0
and are compared with the circuit's model and with the order of sending. A filter with taps set before the swap must
return zeros when its image is loaded again, because a reconfiguration drops the circuit's state.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import default_rng

from firmware.grim.host.fpga import FpgaCard
from firmware.grim.nic.layout import Counter
from pymodels.card.circuits import CIRCUITS
from pymodels.card.registers import Forward
from pymodels.trace import Part, TraceEvent
from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.plan.settings import image_ps
from tb.studies.cards._cards import CARD_OPTIONS, CLUSTER, LAYER, NEEDS, PICOSECONDS, Pair, check
from tb.studies.kit.records import times

__all__ = ["CLUSTER", "LAYER", "NEEDS", "check", "run"]
OLD, NEW = "filters.bit", "digests.bit"
BOTH, ONLY_NEW, WITH_STATE = "loopback", "sha256", "fir16"
"""Circuits: one of both images, one of the new image, and a stateful one of the old image."""
TAPS = 1
"""Argument for loading the filter's taps."""
ONES = b"\xff\x7f" * 16
"""Taps and samples: the largest value."""
OPTIONS = {
    "messages": Option(40, "messages of the stream", 8, 10_000),
    "size": Option(64, "bytes of a message", 1, 64_572, unit="bytes"),
    **CARD_OPTIONS,
}
QUICK = "messages=16 fpga.image_bytes=6400"


async def run(lab: Lab) -> None:
    """Run the study."""
    row = _Row(lab)
    await row.enable()
    await row.send()
    await row.done()
    gaps = np.diff(times(lab.trace(), 1, Part.FPGA, TraceEvent.CARD_TAKE))
    lab.check(
        "results of the card",
        row.come == row.expected,
        f"{len(row.come)} results, but they differ from the models' results in the order of sending",
    )
    lab.metric("loading_us", row.loading_ps / PICOSECONDS)
    lab.metric("gap_us", float(gaps.max()) / PICOSECONDS)
    lab.metric("held", row.held)
    lab.metric("lost", len(row.expected) - len(row.come))
    lab.metric("bytes_equal", int(row.come == row.expected))
    lab.metric("nacks", await row.pair.far.ni_counter(Counter.NACKS_SENT))
    lab.check("messages during the load", row.held > 0, "no message was sent while the image was loaded")
    lab.metric("state_dropped", int(await row.filtered(OLD) == bytes(len(ONES))))
    lab.check(
        "taps after two reconfigurations",
        lab.findings.metrics["state_dropped"] == 1,
        "the filter kept its taps across two reconfigurations",
    )


class _Row:
    """Messages of the stream, and the swap in its middle."""

    def __init__(self, lab: Lab) -> None:
        self.pair, self._lab = Pair(lab), lab
        self.come: list[bytes] = []
        self.expected: list[bytes] = []
        self.held = 0
        """Number of messages sent while the image was being loaded."""
        self.loading_ps = 0
        self._loading = False
        self._samples: list[bytes] = []

    @property
    def _card(self) -> FpgaCard:
        card: FpgaCard | None = self.pair.far.card
        if card is None:
            raise LookupError("host 1 has no FPGA card")
        return card

    async def enable(self) -> None:
        """Start both hosts, set the tables, load the filter's taps and check that it filters."""
        pair = self.pair
        handlers: list[dict[str, Any]] = [{"result": self._on_result, "filtered": self._on_filtered}, {}]
        await pair.enable(handlers, [BOTH, ONLY_NEW, WITH_STATE])
        near, card, number = pair.near, pair.cards[1], pair.number
        for circuit in (BOTH, ONLY_NEW):
            await near.forward(card, circuit, Forward.ENDPOINT, pair.host(0), number["result"])
        await near.send(card, number[WITH_STATE], TAPS, payload=ONES)
        await near.forward(card, WITH_STATE, Forward.ENDPOINT, pair.host(0), number["filtered"])
        await near.send(card, number[WITH_STATE], payload=ONES)
        await near.wait_for(lambda: bool(self._samples))
        self._lab.check("loaded taps", any(self._samples.pop()), "the filter did not load its taps")

    async def send(self) -> None:
        """Send the stream; the swap begins after a quarter of it."""
        lab, pair, count = self._lab, self.pair, self._lab.option("messages")
        pause = image_ps(lab.plan.profile) // (count // 2)
        models = {name: CIRCUITS[name]() for name in (BOTH, ONLY_NEW)}
        for number in range(count):
            if number == count // 4:
                self._swap = lab.spawn(self._load(), "driver of host 1")
            circuit = ONLY_NEW if number >= count // 2 and number % 2 else BOTH
            payload = default_rng([lab.seed, number]).integers(0, 256, lab.option("size"), dtype=np.uint8).tobytes()
            self.expected.append(models[circuit].run(0, payload))
            self.held += self._loading
            await pair.near.send(pair.cards[1], pair.number[circuit], payload=payload)
            lab.findings.messages += 1
            lab.progress(number + 1, count)
            await lab.kernel.sleep(pause, "the next message of the stream")

    async def done(self) -> None:
        """Wait for the swap and for all results."""
        await self._swap.finished
        await self.pair.near.wait_for(lambda: len(self.come) == len(self.expected))

    async def _load(self) -> None:
        begin, self._loading = self._lab.kernel.now, True
        await self._card.load(NEW)
        self.loading_ps, self._loading = self._lab.kernel.now - begin, False

    async def filtered(self, image: str) -> bytes:
        """Load an image, send samples through its filter, and return the result."""
        pair = self.pair
        await self._card.load(image)
        await pair.near.send(pair.cards[1], pair.number[WITH_STATE], payload=ONES)
        await pair.near.wait_for(lambda: bool(self._samples))
        return self._samples.pop()

    def _on_result(self, source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        self.come.append(bytes(payload))

    def _on_filtered(self, source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        self._samples.append(bytes(payload))
