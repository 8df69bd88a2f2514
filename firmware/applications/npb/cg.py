"""CG, class S: the smallest eigenvalue of a sparse random matrix, by inverse iteration with conjugate gradients.

The matrix is distributed over a grid of ranks, with as many columns as rows or twice as many. A product is summed along
the rows of the grid by pairwise exchanges. It is then exchanged with the transposed rank, so that vectors are again
distributed over the columns (NPB 2.3; `pymodels/npb/cg.py` has the same messages as a stream).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from firmware.applications.npb.node import Node, Verified
from firmware.applications.npb.sparse import block, part
from pymodels.errors import SanlabError

ROWS, NONZERO = 1400, 7
ITERATIONS, INNER = 15, 25
SHIFT = 10.0
ZETA = 8.5971775078648
TRANSPOSED, SUMMED = 1, 2
"""Message tags."""

Vector = NDArray[np.float64]


async def cg(node: Node) -> Verified:
    """Run one rank; the number of ranks is a power of two. Operations are floating-point operations, as NPB counts."""
    solver = _Solver(node)
    x = np.ones(len(solver.columns))
    z, _ = await solver.solve(x)  # NPB's untimed iteration, whose result is discarded
    zeta = 0.0
    for _ in range(ITERATIONS):
        z, _ = await solver.solve(x)
        products = await solver.sums(np.array([x @ z, z @ z]))
        zeta = SHIFT + 1 / float(products[0])
        x = z / np.sqrt(products[1])
    _, residual = await solver.solve(x)
    return Verified(
        {"zeta": zeta, "residual below 1e-8": float(residual < 1e-8)}, {"zeta": ZETA, "residual below 1e-8": 1}, 1e-10
    )


class _Solver:
    """Matrix block of one rank, and the ranks it exchanges with."""

    def __init__(self, node: Node) -> None:
        if node.size & node.size - 1:
            raise SanlabError("CG", f"{node.size} ranks are not a power of two", "use 1, 2, 4, 8 ... hosts")
        self.node = node
        log = node.size.bit_length() - 1
        self._across, down = 1 << log - log // 2, 1 << log // 2
        row, column = divmod(node.rank, self._across)
        self.columns = block(ROWS, self._across, column)
        rows = block(ROWS, down, row)
        self._matrix = part(ROWS, NONZERO, SHIFT, rows, self.columns)
        self._neighbours = [node.rank ^ 1 << bit for bit in reversed(range(log - log // 2))]
        wide = self._across // down  # 1 or 2: blocks of columns in a block of rows
        half = block(len(rows), wide, node.rank % wide)
        self._half = slice(half.start, half.stop)
        self._transpose = (column // wide) * self._across + row * wide + node.rank % wide

    async def sums(self, mine: Vector) -> Vector:
        """Return the sums over a row of the grid, by pairwise exchanges with partial sums."""
        total = mine
        for neighbour in self._neighbours:
            other = np.empty_like(total)
            await self.node.comm.Sendrecv(total, neighbour, SUMMED, other, neighbour, SUMMED)
            total = total + other
        return total

    async def _product(self, vector: Vector) -> Vector:
        """Return the matrix times a vector; both are distributed over the columns."""
        await self.node.compute(2 * self._matrix.nnz)
        summed = await self.sums(self._matrix.times(vector))
        mine = np.ascontiguousarray(summed[self._half])
        if self._transpose == self.node.rank:
            return mine
        other = np.empty(len(self.columns))
        await self.node.comm.Sendrecv(mine, self._transpose, TRANSPOSED, other, self._transpose, TRANSPOSED)
        return other

    async def _dot(self, left: Vector, right: Vector) -> float:
        await self.node.compute(2 * len(left))
        return float((await self.sums(np.array([left @ right])))[0])

    async def solve(self, x: Vector) -> tuple[Vector, float]:
        """Return an approximate solution z of A z = x, and the norm of x - A z."""
        z, r, p = np.zeros_like(x), x.copy(), x.copy()
        rho = await self._dot(r, r)
        for _ in range(INNER):
            q = await self._product(p)
            alpha = rho / await self._dot(p, q)
            z += alpha * p
            r -= alpha * q
            before, rho = rho, await self._dot(r, r)
            p = r + rho / before * p
            await self.node.compute(6 * len(x))
        difference = x - await self._product(z)
        return z, float(np.sqrt(await self._dot(difference, difference)))
