"""FT: a cube over the processes in slabs; a step turns it once, by an exchange of all with all, and sums a check."""

from __future__ import annotations

from itertools import chain
from math import prod

from pymodels.npb.streams import WORD, Traffic, Transfer, arrays, together

SIDES = {"A": (256, 256, 128), "B": (512, 256, 256)}
ITERATIONS = {"A": 6, "B": 20}
COMPLEX = 2 * WORD


def points(problem: str) -> int:
    """Points of the cube."""
    return prod(SIDES[problem])


def ft(problem: str, processes: int, rank: int) -> Traffic:
    """One process of FT; the check goes to process 0 and from there to all (ours: straight)."""
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
