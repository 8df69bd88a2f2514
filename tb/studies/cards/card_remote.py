"""What does remote memory of a card cost: writes and reads from a host and from a card, beside messages to the card?

Strategy: single operations of each size on six paths, then a burst of them on each; all times come from the trace. An
operation starts when its host calls the library, or when a card has written a result for it to the queue. A remote
write or read ends when the DMA of its data into the target has ended, a message when a circuit takes it. On the paths
from card to card every record of both host CPUs is counted. As a control they are also counted on the path from host to
card. All bytes are compared at the target after each operation.
"""

from __future__ import annotations

import statistics
import struct
from typing import Any

import numpy as np
from numpy.random import default_rng
from numpy.typing import NDArray

from pymodels.card.registers import BANK_BYTES, Forward
from pymodels.trace import Part, TraceEvent, unit
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
SIZES = (64, 256, 1024, 4096)
PATHS = (
    "host_writes_card",
    "host_reads_card",
    "message_to_card",
    "card_writes_card",
    "card_reads_card",
    "message_card_to_card",
)
BETWEEN_CARDS = ("card_writes_card", "card_reads_card")
BEGIN, ROOM = 3 * BANK_BYTES + 0x100000, 0x10000
"""Window of each card: offset and bytes."""
SOURCE, TARGET = BEGIN, BEGIN + 0x8000
"""Offsets of the source and the target of transfers in their window."""
OPTIONS = {
    "repetitions": Option(3, "single operations of each path and size", 1, 10_000),
    "row": Option(4, "operations back to back, for the bandwidth", 2, 10_000),
    "largest": Option(4096, "largest operation in bytes", 64, 4096, unit="bytes"),
    **CARD_OPTIONS,
}
QUICK = "repetitions=1 row=4 fpga.image_bytes=3200"


async def run(lab: Lab) -> None:
    """Run the study."""
    sizes = [size for size in SIZES if size <= lab.option("largest")]
    paths = _Paths(lab)
    await paths.enable()
    begins: dict[str, list[tuple[list[int], int]]] = {path: [] for path in PATHS}
    for number, path in enumerate(PATHS):
        await paths.choose(path)
        for place, size in enumerate(sizes):
            lone = [await paths.operate(path, size, 1) for _ in range(lab.option("repetitions"))]
            begins[path].append((lone, await paths.operate(path, size, lab.option("row"))))
            lab.progress(number * len(sizes) + place + 1, len(PATHS) * len(sizes), "sizes")
    trace = lab.trace()
    for path in PATHS:
        _hand_in(lab, trace, path, sizes, begins[path])
    for path in (*BETWEEN_CARDS, "host_writes_card"):
        spans = [
            _span(trace, path, size, begin)
            for size, (lone, _) in zip(sizes, begins[path], strict=True)
            for begin in lone
        ]
        lab.metric(f"host_cpu_events_{path}", sum(host_events(trace, *span) for span in spans))
    lab.check(
        "records of the host CPUs",
        lab.findings.metrics["host_cpu_events_host_writes_card"] > 0,
        "the control has no records of the host CPUs",
    )


def _hand_in(
    lab: Lab, trace: NDArray[np.void], path: str, sizes: list[int], begins: list[tuple[list[int], int]]
) -> None:
    """Record metrics and curves of a path; `begins`: by size, the starts of single operations and of the burst."""
    us, rates = [], []
    for size, (lone, row) in zip(sizes, begins, strict=True):
        spans = [_span(trace, path, size, begin) for begin in lone]
        us.append(statistics.median(end - begin for begin, end in spans) / PICOSECONDS)
        ends = _ends(trace, path, size)
        first = int(np.searchsorted(ends, row, "right"))
        rates.append(steady_rate(size, ends[first : first + lab.option("row")].tolist()))
    curve(lab, path, sizes, us, "B", "us", f"{path}_us_{{}}B")
    curve(lab, f"{path}_bandwidth", sizes, rates, "B", "MB/s", f"{path}_MBps_{{}}B")


def _ends(trace: NDArray[np.void], path: str, size: int) -> NDArray[np.int64]:
    """Return the times at which operations of a path and size end, in ps."""
    if path.startswith("message"):
        return times(trace, 1, Part.FPGA, TraceEvent.CARD_TAKE)
    dma = unit(0 if "reads" in path else 1, Part.HOST_DMA)
    found = (trace["unit"] == dma) & (trace["event"] == TraceEvent.DMA_DONE) & (trace["argument2"] == -size)
    return np.sort(trace["time"][found])


def _span(trace: NDArray[np.void], path: str, size: int, begin: int) -> tuple[int, int]:
    """Return the start and end on its path, in ps, of the operation that host 0 began at `begin`."""
    if path in BETWEEN_CARDS or path == "message_card_to_card":
        begin = first_after(times(trace, 0, Part.FPGA, TraceEvent.CARD_GIVE), begin)
    return begin, first_after(_ends(trace, path, size), begin)


class _Paths:
    """Two hosts, two cards with a window each, and the operations between them."""

    def __init__(self, lab: Lab) -> None:
        self._lab, self._pair = lab, Pair(lab)
        self._data = default_rng(lab.seed).integers(0, 256, lab.option("largest"), dtype=np.uint8).tobytes()
        self._block = 0

    async def enable(self) -> None:
        """Start both hosts, open both windows, and fill the sources."""
        pair, banks = self._pair, self._lab.running.banks
        await pair.enable([{}, {}], ["loopback"])
        for card, library in enumerate(pair.libraries):
            await library.card.open_window(BEGIN, ROOM)
            banks[card][SOURCE : SOURCE + len(self._data)] = memoryview(self._data)
        self._block = await pair.near.malloc_pinned(2 * len(self._data))
        pair.near.store_pinned(self._block, self._data)

    async def choose(self, path: str) -> None:
        """Set the cards' forwarding tables for a path."""
        pair = self._pair
        ways: dict[str, tuple[Any, ...]] = {
            "card_writes_card": (Forward.WRITE, pair.cards[1]),
            "card_reads_card": (Forward.FETCH, pair.cards[1]),
            "message_card_to_card": (Forward.ENDPOINT, pair.cards[1], pair.number["loopback"]),
        }
        await pair.near.forward(pair.cards[0], "loopback", *ways.get(path, (Forward.NOWHERE,)))
        await pair.near.forward(pair.cards[1], "loopback", Forward.NOWHERE)
        await self._lab.kernel.sleep(SETTLE_PS, "the tables to be set")

    async def operate(self, path: str, size: int, count: int) -> int:
        """Begin `count` operations back to back and wait until all have ended; return the time of the first call."""
        lab, banks = self._lab, self._lab.running.banks
        for bank in banks.values():
            bank[TARGET : TARGET + size] = memoryview(bytes(size))
        self._pair.near.store_pinned(self._block + len(self._data), bytes(size))
        begin = lab.kernel.now
        for _ in range(count):
            await self._begin(path, size)
        while int(np.count_nonzero(_ends(lab.trace(), path, size) > begin)) < count:
            await lab.kernel.sleep(SETTLE_PS // 4, "the end of the operations")
        await lab.kernel.sleep(SETTLE_PS // 4, "the last acknowledgement")
        lab.findings.messages += count
        if not path.startswith("message"):
            moved = self._moved(path, size)
            lab.check("bytes at the target", moved == self._data[:size], f"{path}: {size} bytes arrived corrupted")
        return begin

    def _moved(self, path: str, size: int) -> bytes:
        if path == "host_reads_card":
            return bytes(self._pair.near.load_pinned(self._block + len(self._data), size))
        return bytes(self._lab.running.banks[0 if "reads" in path else 1][TARGET : TARGET + size])

    async def _begin(self, path: str, size: int) -> None:
        """Begin one operation."""
        pair, data = self._pair, self._data[:size]
        near, (here, there), loopback = pair.near, pair.cards, pair.number["loopback"]
        if path == "host_writes_card":
            await near.send_memory(there, TARGET, self._block, size)
        elif path == "host_reads_card":
            await near.fetch_memory(there, self._block + len(self._data), SOURCE, size)
        elif path == "card_reads_card":
            await near.send(here, loopback, payload=struct.pack("<4I", SOURCE, TARGET, size, 0))
        else:  # the arguments of a remote write: target, no lock
            await near.send(there if path == "message_to_card" else here, loopback, 0, TARGET, payload=data)
