"""The configuration of a transfer: which method from how many bytes on, and how a benchmark becomes one."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum


class Method(Enum):
    """A way from host memory into a card."""

    WORDS = "words"
    """Programmed I/O, a word a transaction."""
    MMX = "mmx"
    """Stores of 8 bytes to write-combining memory."""
    SSE = "sse"
    """Stores of 16 bytes to write-combining memory."""
    BOUNCE = "bounce"
    """The card fetches from a pinned buffer, to which the CPU has copied."""
    DIRECT = "direct"
    """The card fetches from the user's own pages, which the driver pins; source and target alike within 8 bytes."""


CutOffs = tuple[tuple[int, Method], ...]
"""(least number of bytes, method) in rising order, the first from 0 on."""
Times = Mapping[Method, Sequence[float]]
"""Picoseconds of each method by size."""


@dataclass(frozen=True)
class Config:
    """Cut-offs where source and target stand alike within 8 bytes, and where not."""

    aligned: CutOffs
    askew: CutOffs

    def choose(self, source: int, target: int, size: int) -> Method:
        """The method for a transfer."""
        cuts = self.askew if (source ^ target) & 7 else self.aligned
        return cuts[bisect_right([first for first, _ in cuts], size) - 1][1]


DEFAULT = Config(((0, Method.MMX),), ((0, Method.MMX),))
"""Until a benchmark has told better."""


def cut_offs(sizes: Sequence[int], times: Times) -> CutOffs:
    """The envelope of what was measured at some sizes, in rising order: the fastest method at each, and between two
    sizes with different ones a cut-off where straight lines through their times cross.
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
