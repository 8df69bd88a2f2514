"""FT: a cube distributed in slabs; a step transposes it once by an all-to-all exchange, and sums a checksum."""

from __future__ import annotations

from itertools import chain
from math import prod

from pymodels.npb.streams import WORD, Traffic, Transfer, arrays, together

SIDES = {"A": (256, 256, 128), "B": (512, 256, 256)}
ITERATIONS = {"A": 6, "B": 20}
COMPLEX = 2 * WORD


def points(problem: str) -> int:
    """Return the number of points of the cube."""
    return prod(SIDES[problem])


def ft(problem: str, processes: int, rank: int) -> Traffic:
    """Return the traffic of one process of FT; the checksum goes through process 0 (ours: directly)."""
    own = points(problem) // processes * COMPLEX
    size = own // processes
    at = arrays(u0=own, u1=own, u2=own, sums=processes * COMPLEX)
    others = [(rank + i) % processes for i in range(1, processes)]
    pairs = (
        (Transfer(False, peer, at["u2"] + peer * size, size), Transfer(True, peer, at["u1"] + peer * size, size))
        for peer in others
    )
    step = together(chain.from_iterable(pairs))
    for down in (False, True):
        for peer in others if rank == 0 else [0]:
            step.append(Transfer(down == (rank == 0), peer, at["sums"] + peer * COMPLEX, COMPLEX, ends=True))
    return Traffic((), tuple(step), ITERATIONS[problem])
