"""BT and SP: a cube of q x q x q cells, q cells per process, one in every slice of every direction (multi-partition).

In a step of ADI, faces two cells deep with five variables per point go to both neighbours of each direction. Each
direction is then solved from slice to slice, forward and backward, with one message per slice. Faces are sent from
`out_buffer` and received into `in_buffer`, all six at a time; solver messages are at the beginning of their buffer.

BT's solver sends from `in_buffer` and receives into `out_buffer`: a 5 x 5 block and 5 right-hand sides per point
forward, 5 values backward, for a full square of the largest cell. SP's solver sends from `out_buffer`: 22 values per
point forward, 10 backward, without the points on the cube's surface. The two buffers are adjacent after the fields, as
declared.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isqrt
from typing import NamedTuple

from pymodels.npb.streams import WORD, Traffic, Transfer, arrays, packed, together

GRID = {"A": 64, "B": 102}
DIRECTIONS = range(3)
VARIABLES, DEEP = 5, 2


class Pattern(NamedTuple):
    """Differences between the two codes."""

    forward: int
    """Doubles per point of a solver's forward message."""
    backward: int
    iterations: int
    whole_square: bool
    """True if every message has the size for the largest cell."""
    buffer_factor: int
    from_in_buffer: bool
    """True if the solver sends from `in_buffer` and receives into `out_buffer`."""


BT = Pattern(30, 5, 200, True, 60, True)
SP = Pattern(22, 10, 400, False, 120, False)


class Partition:
    """Cells of one process."""

    def __init__(self, points: int, processes: int, rank: int) -> None:
        self.q = q = isqrt(processes)
        if q * q != processes:
            raise ValueError(f"a multi-partition takes a square number of processes, not {processes}")
        i, j = rank % q, rank // q
        self.cells = [((i + c) % q, (j - c) % q, c) for c in range(q)]
        self._sizes = [points // q + (k < points % q) for k in range(q)]
        self.most = points // q + 1
        self.next = ((i + 1) % q + q * j, i + q * ((j + 1) % q), (i - 1) % q + q * ((j + 1) % q))
        self.before = ((i - 1) % q + q * j, i + q * ((j - 1) % q), (i + 1) % q + q * ((j - 1) % q))

    def square(self, cell: tuple[int, ...], direction: int, inner: bool = False) -> int:
        """Return the points of a cell across a direction; with `inner` without those on the cube's surface."""
        points = 1
        for other in DIRECTIONS:
            if other != direction:
                at = cell[other]
                points *= self._sizes[at] - (inner and at == 0) - (inner and at == self.q - 1)
        return points

    def faces(self, direction: int, up: bool) -> int:
        """Return the bytes of the faces in one direction: those of every cell except the last one."""
        edge = self.q - 1 if up else 0
        points = sum(self.square(cell, direction) for cell in self.cells if cell[direction] != edge)
        return points * VARIABLES * DEEP * WORD


def adi(pattern: Pattern, problem: str, processes: int, rank: int) -> Traffic:
    """Return the traffic of one process of BT or SP."""
    part = Partition(GRID[problem], processes, rank)
    room = part.most**2 * (part.q - 1) * pattern.buffer_factor * WORD + WORD
    fields = 40 * part.q * (part.most + 4) ** 3 * WORD
    at = arrays(fields=fields, in_buffer=room, out_buffer=room)
    out, into = at["out_buffer"], at["in_buffer"]
    step = together(_copy_faces(part, out, into))
    if pattern.from_in_buffer:
        out, into = into, out
    for direction in DIRECTIONS:
        step += _solve(pattern, part, direction, out, into)
    return Traffic((), tuple(step), pattern.iterations)


def _copy_faces(part: Partition, out: int, into: int) -> Iterator[Transfer]:
    ways = [(direction, up) for direction in DIRECTIONS for up in (True, False)]
    peers = [part.next[d] if up else part.before[d] for d, up in ways]
    sizes = [part.faces(d, up) for d, up in ways]  # equal in both directions
    for send, buffer in ((False, into), (True, out)):
        for peer, (address, size) in zip(peers, packed(buffer, sizes), strict=True):
            yield Transfer(send, peer, address, size)


def _solve(pattern: Pattern, part: Partition, direction: int, out: int, into: int) -> Iterator[Transfer]:
    """Yield the messages of one direction: from every slice to the next, and back."""
    slices = sorted(part.cells, key=lambda cell: cell[direction])
    ahead, behind = part.next[direction], part.before[direction]
    for values, order, to, source in (
        (pattern.forward, slices, ahead, behind),
        (pattern.backward, slices[::-1], behind, ahead),
    ):
        for stage, cell in enumerate(order):
            points = part.most**2 if pattern.whole_square else part.square(cell, direction, inner=True)
            size = points * values * WORD
            if stage:
                yield Transfer(False, source, into, size, ends=True)
            if stage < part.q - 1:
                yield Transfer(True, to, out, size)  # completed after the next receive
