"""Data transfer micro-benchmarks of VIBe (paper 001, 4.2.2): one component of the base configuration changes at a time.

A row is a named condition and the quantities measured under it: latency and utilisation (L, U), bandwidth (B).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from firmware.via.formats import Reliability
from tb.studies.via._via_case import Case
from tb.studies.via._via_ends import RELIABILITIES

BASE_SIZES = (4, 16, 64, 256, 1024, 4096, 16384, 65536)
SMALL, LARGE = 16, 4096
"""Message sizes at which one component is changed (our choice): not inline, and at most one page."""
LONG = 8192
"""Size of a message that exceeds the maximum transfer size (our choice)."""


class Row(NamedTuple):
    """Condition and the quantities measured under it."""

    name: str
    case: Case
    quantities: str = "LUB"
    """First letters of the measured quantities: latency, utilisation of the CPU, bandwidth."""
    point: float = 0.0
    """Position of the row on the axis of its part."""


def base(sizes: Sequence[int]) -> Iterator[Row]:
    """Yield latency, utilisation and bandwidth over size, by polling and by blocking, with separate send and receive
    buffers.

    Also latency with one buffer for both, as the paper measures it.
    """
    for block in (False, True):
        how = "block" if block else "poll"
        for size in sizes:
            yield Row(f"base_{how}_{size}B", Case(size, block=block), "LUB", size)
        for size in sizes:
            yield Row(f"base_one_{how}_{size}B", Case(size, block=block, one=True), "LU", size)


def translation(sizes: Sequence[int]) -> Iterator[Row]:
    """Yield rows over the percentage of reused buffers: polling, and blocking (Figures 4.3 and 4.4)."""
    for how, block in (("", False), ("block_", True)):
        for size in sizes:
            for reuse in (0, 25, 50, 75, 100):
                yield Row(f"reuse_{how}{reuse}_{size}B", Case(size, block=block, reuse=reuse), "LUB", reuse)


def segments(sizes: Sequence[int]) -> Iterator[Row]:
    """Yield rows over the number of data segments, gathered and scattered; whole words, as the LANai 4 requires."""
    for size in (max(size, 64) for size in sizes):
        for count in (1, 2, 4, 8):
            yield Row(f"segments_{count}_{size}B", Case(size, segments=count), "LUB", count)


def queues(sizes: Sequence[int]) -> Iterator[Row]:
    """Yield rows in which a completion queue reports the receives."""
    for block in (False, True):
        for size in sizes:
            yield Row(f"cq_{'block' if block else 'poll'}_{size}B", Case(size, block=block, queue=1), "LUB", size)


def vis(sizes: Sequence[int]) -> Iterator[Row]:
    """Yield rows over the number of connected VIs between the two processes."""
    for count in (1, 4, 16):
        for size in sizes:
            yield Row(f"vis_{count}_{size}B", Case(size, vis=count), "LUB", count)


def asynchronous(sizes: Sequence[int]) -> Iterator[Row]:
    """Yield rows with a handler, in a new thread or by a signal: it answers, or takes each message of a stream."""
    for size in sizes:
        yield Row(f"notify_{size}B", Case(size, notify="thread"), "LUB", size)
    for size in sizes:
        yield Row(f"notify_signal_{size}B", Case(size, notify="signal"), "LUB", size)


def rdma(sizes: Sequence[int]) -> Iterator[Row]:
    """Yield rows of RDMA write with immediate data, and of RDMA read, whose latency ends when the data have arrived."""
    for size in sizes:
        yield Row(f"rdma_{size}B", Case(size, rdma=True), "LUB", size)
    for size in sizes:
        yield Row(f"rdma_read_{size}B", Case(size, read=True, reliability=Reliability.RECEPTION), "LUB", size)


def transfer_size(_: Sequence[int]) -> Iterator[Row]:
    """Yield rows of a long message in pieces of the VI's maximum transfer size."""
    for most in (1024, 2048, 4096, LONG):
        yield Row(f"mts_{most}_{LONG}B", Case(LONG, most=most), "LUB", most)


def reliability(sizes: Sequence[int]) -> Iterator[Row]:
    """Yield rows of the three reliability levels."""
    for level, (word, value) in enumerate(RELIABILITIES.items()):
        for size in sizes:
            yield Row(f"{word}_{size}B", Case(size, reliability=value), "LUB", level)


def pipeline(sizes: Sequence[int]) -> Iterator[Row]:
    """Yield rows over the number of sends posted before the first is dequeued."""
    for size in sizes:
        for window in (1, 2, 4, 8, 16):
            yield Row(f"pipeline_{window}_{size}B", Case(size, window=window), "B", window)


PARTS: Mapping[str, tuple[Callable[[Sequence[int]], Iterator[Row]], str]] = {
    "base": (base, "bytes"),
    "translation": (translation, "percent of reused buffers"),
    "segments": (segments, "data segments"),
    "queues": (queues, "bytes"),
    "vis": (vis, "connected VIs"),
    "asynchronous": (asynchronous, "bytes"),
    "rdma": (rdma, "bytes"),
    "transfer_size": (transfer_size, "maximum transfer size in bytes"),
    "reliability": (reliability, "level"),
    "pipeline": (pipeline, "sends out"),
}
"""Parts of the suite by name: their rows, and the axis over which they are drawn."""


def rows(part: str, largest: int) -> list[Row]:
    """Return the rows of a part whose messages are not longer than `largest` bytes."""
    make, _ = PARTS[part]
    sizes = BASE_SIZES if part == "base" else (SMALL, LARGE)
    return list(make([size for size in sizes if size <= largest]))
