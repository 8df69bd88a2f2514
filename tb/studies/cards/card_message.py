"""What does a message cost whose target, or whose source, is an FPGA card: time and bandwidth beside host to host?

Strategy: single messages of each size on five paths, then a burst of them on each; all times come from the trace. A
message starts when its host calls send, or when a card has written a result for it to the queue. It ends when a circuit
takes it, or a handler begins. Of a long result the first segment counts, of a long message to a circuit the last. On
the path from card to card every record of both host CPUs is counted. As a control they are also counted on the path
from a card to a host, where some must occur. All bytes return to a host and are compared.
"""

from __future__ import annotations

import statistics
from typing import Any

import numpy as np
from numpy.random import default_rng
from numpy.typing import NDArray

from pymodels.card.registers import Forward
from pymodels.trace import Part, TraceEvent
from tb.lab.lab import Lab
from tb.plan.options import Option
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
    host_events,
)
from tb.studies.kit.findings import curve
from tb.studies.kit.records import times
from tb.studies.kit.stream import steady_rate

__all__ = ["CLUSTER", "LAYER", "NEEDS", "check", "run"]
SIZES = (0, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576)
PATHS = ("host_to_host", "host_to_local_card", "host_to_remote_card", "card_to_remote_card", "card_to_host")
OPTIONS = {
    "repetitions": Option(3, "single messages of each path and size", 1, 10_000),
    "row": Option(4, "messages sent back to back, for the bandwidth", 2, 10_000),
    "largest": Option(1024, "largest message in bytes", 0, 1 << 24, unit="bytes"),
    **CARD_OPTIONS,
}
QUICK = "repetitions=1 row=4 fpga.image_bytes=3200"


async def run(lab: Lab) -> None:
    """Run the study."""
    sizes = [size for size in SIZES if size <= lab.option("largest")]
    paths = _Paths(lab)
    await paths.enable()
    lone: dict[tuple[str, int], list[int]] = {}
    rows: dict[tuple[str, int], int] = {}
    for path in PATHS:
        await paths.choose(path)
        for number, size in enumerate(sizes):
            lone[path, size] = [await paths.send(path, size, 1) for _ in range(lab.option("repetitions"))]
            rows[path, size] = await paths.send(path, size, lab.option("row"))
            lab.progress(PATHS.index(path) * len(sizes) + number + 1, len(PATHS) * len(sizes), "sizes")
    trace = lab.trace()
    for path in PATHS:
        _hand_in(lab, trace, path, sizes, [[lone[path, size], [rows[path, size]]] for size in sizes])
    for path, name in (("card_to_remote_card", "card_to_card"), ("card_to_host", "card_to_host")):
        spans = [_span(trace, path, begin) for size in sizes for begin in lone[path, size]]
        lab.metric(f"host_cpu_events_{name}", sum(host_events(trace, *span) for span in spans))
    lab.check(
        "records of the host CPUs",
        lab.findings.metrics["host_cpu_events_card_to_host"] > 0,
        "the control has no records of the host CPUs",
    )


def _hand_in(lab: Lab, trace: NDArray[np.void], path: str, sizes: list[int], begins: list[list[list[int]]]) -> None:
    """Record metrics and curves of a path; `begins`: by size, the starts of the single messages and of the burst."""
    us, rates = [], []
    for size, (lone, row) in zip(sizes, begins, strict=True):
        spans = [_span(trace, path, begin) for begin in lone]
        us.append(statistics.median(end - begin for begin, end in spans) / PICOSECONDS)
        arrivals = _arrivals(trace, path)
        first = int(np.searchsorted(arrivals, row[0], "right"))
        rates.append(steady_rate(size, arrivals[first : first + lab.option("row")].tolist()))
    curve(lab, path, sizes, us, "B", "us", f"{path}_us_{{}}B")
    curve(lab, f"{path}_bandwidth", sizes, rates, "B", "MB/s", f"{path}_MBps_{{}}B")


def _arrivals(trace: NDArray[np.void], path: str) -> NDArray[np.int64]:
    """Return the times at which messages of a path end, in ps."""
    if path.endswith("host"):
        return times(trace, 1, Part.HOST_CPU, TraceEvent.HANDLER_START)
    return times(trace, 0 if path.endswith("local_card") else 1, Part.FPGA, TraceEvent.CARD_TAKE)


def _span(trace: NDArray[np.void], path: str, begin: int) -> tuple[int, int]:
    """Return the start and end on its path, in ps, of the message that host 0 sent at `begin`."""
    if path.startswith("card"):
        begin = first_after(times(trace, 0, Part.FPGA, TraceEvent.CARD_GIVE), begin)
    return begin, first_after(_arrivals(trace, path), begin)


class _Paths:
    """Two hosts, two cards, and the messages between them."""

    def __init__(self, lab: Lab) -> None:
        self._lab, self._pair = lab, Pair(lab)
        self._there = 0
        self._data = default_rng(lab.seed).integers(0, 256, lab.option("largest"), dtype=np.uint8).tobytes()

    async def enable(self) -> None:
        """Start both hosts; the far host serves while it waits."""
        await self._pair.enable([{"near": self._on_message}, {"far": self._on_message}], ["loopback"])

    async def choose(self, path: str) -> None:
        """Set the cards' forwarding tables for a path; results outside the path go to host 0."""
        pair, number = self._pair, self._pair.number
        near, home = pair.near, (pair.host(0), number["near"])
        away = home
        if path == "card_to_remote_card":
            away = pair.cards[1], number["loopback"]
        if path == "card_to_host":
            away = pair.host(1), number["far"]
        await near.forward(pair.cards[0], "loopback", Forward.ENDPOINT, *away)
        await near.forward(pair.cards[1], "loopback", Forward.ENDPOINT, *home)
        await self._lab.kernel.sleep(SETTLE_PS, "the tables to be set")

    async def send(self, path: str, size: int, count: int) -> int:
        """Send `count` messages back to back on a path and wait until all are at a host; return the time of the first
        send.
        """
        lab, pair, number = self._lab, self._pair, self._pair.number
        target, handler = pair.cards[path == "host_to_remote_card"], number["loopback"]
        if path == "host_to_host":
            target, handler = pair.host(1), number["far"]
        receiver: Any = pair.far if path.endswith("to_host") else pair.near
        self._there = 0
        waiting = (
            lab.spawn(receiver.wait_for(lambda: self._there == count), "receiver") if receiver is pair.far else None
        )
        begin = lab.kernel.now
        for _ in range(count):
            await pair.near.send(target, handler, size, payload=self._data[:size])
        await (waiting.finished if waiting else receiver.wait_for(lambda: self._there == count))
        lab.findings.messages += count
        return begin

    def _on_message(self, source: int, size: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        self._lab.check("received bytes", payload == self._data[:size], f"{size} bytes arrived corrupted")
        self._there += 1
