"""Transfer configuration: cut-off sizes between methods, and their computation from a benchmark."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum


class Method(Enum):
    """Method of moving bytes from host memory into a card."""

    WORDS = "words"
    """Programmed I/O, one word a transaction."""
    MMX = "mmx"
    """Stores of 8 bytes to write-combining memory."""
    SSE = "sse"
    """Stores of 16 bytes to write-combining memory."""
    BOUNCE = "bounce"
    """DMA by the card from a pinned buffer, into which the CPU copies the data."""
    DIRECT = "direct"
    """DMA by the card from the user's pages, which the driver pins; for aligned transfers only."""


CutOffs = tuple[tuple[int, Method], ...]
"""Pairs of (smallest number of bytes, method) in ascending order; the first begins at 0."""
Times = Mapping[Method, Sequence[float]]
"""Times of each method in ps, one for each size."""


@dataclass(frozen=True)
class Config:
    """Cut-offs for aligned transfers (source and target equal modulo 8) and for misaligned ones."""

    aligned: CutOffs
    askew: CutOffs

    def choose(self, source: int, target: int, size: int) -> Method:
        """Return the method for a transfer."""
        cuts = self.askew if (source ^ target) & 7 else self.aligned
        return cuts[bisect_right([first for first, _ in cuts], size) - 1][1]


DEFAULT = Config(((0, Method.MMX),), ((0, Method.MMX),))
"""Configuration in use before a benchmark."""


def cut_offs(sizes: Sequence[int], times: Times) -> CutOffs:
    """Return the cut-offs between the fastest methods.

    Between two sizes with different fastest methods, the cut-off is where straight lines through their times cross.

    Args:
        sizes: measured sizes in bytes, ascending.
        times: times of each method in ps, one for each size.
    """
    best = [min(times, key=lambda method: times[method][i]) for i in range(len(sizes))]
    cuts = [(0, best[0])]
    for i in range(1, len(sizes)):
        old, new = best[i - 1], best[i]
        if old != new:
            ahead = times[new][i - 1] - times[old][i - 1]
            behind = times[old][i] - times[new][i]
            share = ahead / (ahead + behind) if ahead + behind else 1.0
            cuts.append((round(sizes[i - 1] + share * (sizes[i] - sizes[i - 1])), new))
    return tuple(cuts)
