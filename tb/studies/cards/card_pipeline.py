"""How fast is a stream through the circuits of two remote cards, compared with the same work on the hosts' CPUs?

Strategy: host 0 streams samples to the filter of the other host's card. That card forwards to the filter of host 0's
card, which forwards to host 0: two circuits on different hosts without a CPU between. Then a handler of host 1 filters
the same stream on the CPU, at the cost of its compiled path. It returns the stream to a handler of host 0 with the
second filter. Both results are compared byte by byte with the circuits' models.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import default_rng

from firmware.grim.host.filter import HostFilter
from pymodels.card.circuits import TAPS, Fir16
from pymodels.card.registers import Forward
from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.studies.cards._cards import CARD_OPTIONS, CLUSTER, LAYER, NEEDS, PICOSECONDS, SETTLE_PS, Pair, check

__all__ = ["CLUSTER", "LAYER", "NEEDS", "check", "run"]
LOAD, FILTER = 1, 0
"""First argument of a message to the filter: coefficients, or samples."""
OPTIONS = {
    "bytes": Option(16384, "bytes of the stream; whole samples of two", 2, 1 << 24, unit="bytes"),
    "message": Option(1024, "bytes of a message; whole samples of two", 2, 64_572, unit="bytes"),
    **CARD_OPTIONS,
}
QUICK = "bytes=8192 fpga.image_bytes=3200"


async def run(lab: Lab) -> None:
    """Run the study."""
    size = lab.option("bytes") & ~1
    data = default_rng(lab.seed).integers(0, 256, size, dtype=np.uint8).tobytes()
    taps = [default_rng([lab.seed, n]).integers(-2000, 2000, TAPS, dtype=np.int16).tobytes() for n in (1, 2)]
    stream = _Stream(lab, data, taps)
    await stream.enable()
    by_cards = await stream.time("filter", stream.pair.cards[1], "fir16")
    cards = stream.take()
    by_hosts = await stream.time("handlers", stream.pair.host(1), "first")
    hosts = stream.take()
    expected = data
    for coefficients in taps:
        model = Fir16()
        model.run(LOAD, coefficients)
        expected = model.run(FILTER, expected)
    lab.check("result of the cards", cards == expected, "the result of the cards differs from that of the models")
    lab.check("result of the hosts", hosts == expected, "the result of the hosts differs from that of the models")
    lab.metric("bytes_equal", int(cards == expected))
    lab.metric("bytes_equal_hosts", int(hosts == expected))
    lab.metric("cards_MBps", size / by_cards * PICOSECONDS)
    lab.metric("hosts_MBps", size / by_hosts * PICOSECONDS)
    lab.metric("cards_over_hosts", by_hosts / by_cards)


class _Stream:
    """Two hosts and their cards, each with a filter."""

    def __init__(self, lab: Lab, data: bytes, taps: list[bytes]) -> None:
        self.pair = Pair(lab)
        self._lab, self._data, self._taps = lab, data, taps
        self._come: list[bytes] = []
        self._bytes = 0
        hosts = [library.host for library in self.pair.libraries[::-1]]
        self._on_cpu = [HostFilter(host, own) for host, own in zip(hosts, taps, strict=True)]

    async def enable(self) -> None:
        """Start both hosts, load the coefficients, and set the forwarding tables."""
        pair = self.pair
        handlers: list[dict[str, Any]] = [{"done": self._done, "second": self._second}, {"first": self._first}]
        await pair.enable(handlers, ["fir16"])
        near, cards, fir16 = pair.near, pair.cards, pair.number["fir16"]
        for card, coefficients in zip(cards[::-1], self._taps, strict=True):
            await near.forward(card, "fir16", Forward.NOWHERE)
            await near.send(card, fir16, LOAD, payload=coefficients)
        await near.forward(cards[1], "fir16", Forward.ENDPOINT, cards[0], fir16)
        await near.forward(cards[0], "fir16", Forward.ENDPOINT, pair.host(0), pair.number["done"])
        await self._lab.kernel.sleep(SETTLE_PS, "the tables to be set")

    async def time(self, what: str, target: int, handler: str) -> int:
        """Send the whole stream to `handler` of `target`, wait for all results, and return the time in ps."""
        lab, pair, step = self._lab, self.pair, self._lab.option("message") & ~1
        over = False
        serving = lab.spawn(pair.far.wait_for(lambda: over), "host 1") if what == "handlers" else None
        begin = lab.kernel.now
        for at in range(0, len(self._data), step):
            await pair.near.send(target, pair.number[handler], FILTER, payload=self._data[at : at + step])
            lab.findings.messages += 1
        await pair.near.wait_for(lambda: self._bytes == len(self._data))
        duration = lab.kernel.now - begin
        over = True
        if serving is not None:
            await pair.near.send(target, pair.number[handler], FILTER)  # wakes it: its wait is over
            await serving.finished
        return duration

    def take(self) -> bytes:
        """Return the received results."""
        come, self._come, self._bytes = b"".join(self._come), [], 0
        return come

    async def _first(self, source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        if payload:
            filtered = await self._on_cpu[0].run(bytes(payload))
            await self.pair.far.send(self.pair.host(0), self.pair.number["second"], payload=filtered)

    async def _second(self, source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        self._done(source, a0, a1, a2, a3, memoryview(await self._on_cpu[1].run(bytes(payload))))

    def _done(self, source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        self._come.append(bytes(payload))
        self._bytes += len(payload)
