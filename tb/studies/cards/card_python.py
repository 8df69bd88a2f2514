"""What does a circuit in Python cost beside the same circuit in SystemVerilog: wake-ups and wall time a KB?

Strategy: the circuits of the card of host 0 are in two images of the same circuits, in SystemVerilog and in Python. The
same stream goes from host 0 through each circuit of each image and back, in messages sent one after the other. All
results are compared with the circuits' models. The wake-ups are those of the circuit alone. Wall time is that of the
whole simulation while the stream moves, so the difference of the two images is the cost of Python.
"""

from __future__ import annotations

from itertools import starmap
from time import perf_counter
from typing import Any

from numpy.random import default_rng

from pymodels.card.circuits import CIRCUITS, TAPS
from pymodels.card.registers import Forward
from pymodels.config.model import FPGA_CARD
from pymodels.errors import ConfigError
from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.plan.request import Plan
from tb.studies.cards._cards import CARD_OPTIONS, LAYER, NEEDS, PICOSECONDS, SETTLE_PS, Pair, check_card

__all__ = ["CLUSTER", "LAYER", "NEEDS", "check", "run"]
CLUSTER = "python_cards"
OPTIONS = {
    "bytes": Option(16384, "bytes of the stream through each circuit", 4, 1 << 24, unit="bytes"),
    "message": Option(4096, "bytes of a message; at most a segment (grim.segment_bytes)", 4, 64_572, unit="bytes"),
    "circuit": Option("", "name of the only circuit; empty: all", choices=("", *CIRCUITS)),
    **CARD_OPTIONS,
}
QUICK = "bytes=2048 message=1024 fpga.image_bytes=3200"
KB = 1024
LOAD, COUNT, READ, CLEAR = 1, 0, 1, 2
"""First arguments: coefficients of the filter; what the histogram does."""
Message = tuple[int, bytes]


def check(plan: Plan) -> None:
    """Raise ConfigError unless host 0 has an FPGA card with each circuit in SystemVerilog and in Python."""
    check_card(plan, 0, FPGA_CARD)
    kinds = {(one.name, bool(one.python)) for one in plan.cluster.circuits}
    for name in CIRCUITS:
        if {(name, False), (name, True)} - kinds:
            cause = f"the study needs {name!r} in SystemVerilog and in Python"
            raise ConfigError("CLUSTER", 0, "too few circuits", cause, f"choose CLUSTER={CLUSTER}")


async def run(lab: Lab) -> None:
    """Run the study."""
    stream = _Stream(lab)
    await stream.enable()
    circuits = [one for one in lab.plan.cluster.circuits if lab.text("circuit") in ("", one.name)]
    for number, one in enumerate(circuits):
        await stream.measure(one.image, one.name, "python" if one.python else "rtl")
        lab.progress(number + 1, len(circuits), "circuits")
    lab.metric("bytes_equal", int(not stream.wrong))


class _Stream:
    """Host 0 and its card."""

    def __init__(self, lab: Lab) -> None:
        self._lab, self._pair = lab, Pair(lab)
        self._come: list[bytes] = []
        self._loaded = ""
        self.wrong: list[str] = []
        """Circuits with other results than their models."""

    async def enable(self) -> None:
        """Start both hosts, and let the results of all circuits return to host 0."""
        pair = self._pair
        await pair.enable([{"result": self._on_result}, {}], list(CIRCUITS))
        for name in CIRCUITS:
            await pair.near.forward(pair.cards[0], name, Forward.ENDPOINT, pair.host(0), pair.number["result"])
        await self._lab.kernel.sleep(SETTLE_PS, "the tables to be set")

    async def measure(self, image: str, name: str, kind: str) -> None:
        """Send the stream through a circuit, compare the results, and record the metrics."""
        lab, pair, model = self._lab, self._pair, CIRCUITS[name]()
        card: Any = pair.near.card
        if image != self._loaded:
            await card.load(image)
            self._loaded = image
        before, stream, after = self._messages(name)
        results = [*await self._send(name, before)]
        circuits = lab.running.circuits[0]
        begin, wall, wakes = lab.kernel.now, perf_counter(), circuits.wakes
        results += await self._send(name, stream)
        seconds, size = perf_counter() - wall, sum(len(payload) for _, payload in stream)
        lab.metric(f"{kind}_{name}_MBps", size / (lab.kernel.now - begin) * PICOSECONDS)
        lab.metric(f"wall_us_per_KB_{kind}_{name}", seconds * 1e6 / size * KB)
        if kind == "python":
            lab.metric(f"wakes_per_KB_{name}", (circuits.wakes - wakes) / size * KB)
        results += await self._send(name, after)
        equal = results == list(starmap(model.run, [*before, *stream, *after]))
        lab.check("results of the circuits", equal, f"{name} of {image} differs from its model")
        self.wrong += [] if equal else [f"{name} of {image}"]

    def _messages(self, name: str) -> tuple[list[Message], list[Message], list[Message]]:
        """Return the messages before the stream, those of the stream, and those after it."""
        lab, step = self._lab, self._lab.option("message")
        data = default_rng(lab.seed).integers(0, 256, lab.option("bytes"), "u1").tobytes()
        stream = [(0, data[at : at + step]) for at in range(0, len(data), step)]
        if name == "fir16":
            return [(LOAD, default_rng(lab.seed).integers(-2000, 2000, TAPS, "<i2").tobytes())], stream, []
        if name == "histogram":
            return [(CLEAR, b"")], [(COUNT, payload) for _, payload in stream], [(READ, b"")]
        return [], stream, []

    async def _send(self, name: str, messages: list[Message]) -> list[bytes]:
        """Send messages to a circuit one after the other, and return their results."""
        lab, pair = self._lab, self._pair
        self._come = []
        for argument, payload in messages:
            await pair.near.send(pair.cards[0], pair.number[name], argument, payload=payload)
        lab.findings.messages += len(messages)
        await pair.near.wait_for(lambda: len(self._come) == len(messages))
        return self._come

    def _on_result(self, source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        self._come.append(bytes(payload))
