"""CG: conjugate gradient with a sparse matrix over a square of processes.

A step is one call of the solver: 25 iterations and the residual. Each product `w` is summed along a row of the square
by log2(columns) exchanges of `w` against `q`, each of the whole length. Its transpose is then exchanged, also from `w`
into `q` (for the residual into `r`). Dot products are summed by as many exchanges of one double, whose variables share
a page after the arrays (ours). The vectors are contiguous after the matrix, as declared.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isqrt

from pymodels.npb.streams import WORD, Traffic, Transfer, arrays, together

ROWS = {"A": 14000, "B": 75000}
NONZERO = {"A": 11, "B": 13}
"""Number of non-zero elements from which a row is generated."""
ITERATIONS = {"A": 15, "B": 75}
INNER = 25


def cg(problem: str, processes: int, rank: int) -> Traffic:
    """Return the traffic of one process of CG."""
    side = isqrt(processes)
    if side * side != processes:
        raise ValueError(f"CG here takes a square number of processes, not {processes}")
    rows = ROWS[problem]
    row, column = rank // side, rank % side
    length = ((row + 1) * rows // side - row * rows // side) * WORD
    vector = (rows // side + 2) * WORD
    matrix = rows * (NONZERO[problem] + 1) ** 2 // processes * WORD
    names = ("x", "z", "p", "q", "r", "w")
    at = arrays(v=matrix, aelt=matrix, a=matrix, **dict.fromkeys(names, vector), scalars=64)
    peers = [row * side + (column ^ 1 << i) for i in range(side.bit_length() - 1)][::-1]
    transpose = column * side + row

    def product(into: str) -> Iterator[Transfer]:
        for peer in peers:
            yield from together((Transfer(False, peer, at["q"], length), Transfer(True, peer, at["w"], length)))
        if transpose != rank:
            to_and_fro = Transfer(False, transpose, at[into], length), Transfer(True, transpose, at["w"], length)
            yield from together(to_and_fro)

    def dot(doubles: int = 1) -> Iterator[Transfer]:
        size = doubles * WORD
        for peer in peers:
            into = Transfer(False, peer, at["scalars"] + 2 * WORD, size)
            yield from together((into, Transfer(True, peer, at["scalars"], size)))

    inner = [*product("q"), *dot(), *dot()]
    step = [*dot(), *INNER * inner, *product("r"), *dot(), *dot(2)]
    return Traffic((), tuple(step), ITERATIONS[problem])
