"""CG's matrix: a sum of outer products of sparse random vectors with decreasing weights (NPB 2.3)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pymodels.npb.generator import numbers

CONDITION = 0.1
"""Reciprocal of the matrix's condition number."""


def block(count: int, parts: int, number: int) -> range:
    """Return part `number` of `parts` equal parts of `count` items."""
    return range(number * count // parts, (number + 1) * count // parts)


class SparseBlock(NamedTuple):
    """Elements of a block of the matrix, sorted by row."""

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    values: NDArray[np.float64]
    height: int

    @property
    def nnz(self) -> int:
        """Number of stored elements."""
        return len(self.values)

    def times(self, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the block times a vector of its width."""
        return np.bincount(self.rows, self.values * vector[self.columns], self.height).astype(float)


@cache
def matrix(order: int, nonzero: int, shift: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the elements of the whole matrix: positions (row times order plus column, ascending) and values."""
    places, values = [np.arange(order) * (order + 1)], [np.full(order, CONDITION - shift)]
    weight, ratio = 1.0, CONDITION ** (1 / order)
    for where, what in _vectors(order, nonzero):
        places.append((where[:, None] * order + where).ravel())
        values.append((weight * what[:, None] * what).ravel())
        weight *= ratio
    joined, which = np.unique(np.concatenate(places), return_inverse=True)
    return joined, np.bincount(which, np.concatenate(values)).astype(float)


def part(order: int, nonzero: int, shift: float, rows: range, columns: range) -> SparseBlock:
    """Return a block of the matrix."""
    places, values = matrix(order, nonzero, shift)
    row, column = np.divmod(places, order)
    inside = (row >= rows.start) & (row < rows.stop) & (column >= columns.start) & (column < columns.stop)
    return SparseBlock(row[inside] - rows.start, column[inside] - columns.start, values[inside], len(rows))


def _vectors(order: int, nonzero: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
    """Yield for each row `nonzero` distinct positions and their values.

    A value and its position are drawn together, and again if the position is out of range or in use. The row's own
    position has the value 0.5.
    """
    drawn = numbers(64 * order * nonzero, skip=1)  # NPB draws one number before and does not use it
    places = (drawn[1::2] * (1 << (order - 1).bit_length())).astype(np.int64).tolist()
    values, at = drawn[::2].tolist(), 0
    for row in range(order):
        vector: dict[int, float] = {}
        while len(vector) < nonzero:
            if places[at] < order:
                vector.setdefault(places[at], values[at])
            at += 1
        vector[row] = 0.5
        yield np.array(list(vector)), np.array(list(vector.values()))
