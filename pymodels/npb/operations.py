"""Operation counts of the benchmarks, as NPB computes its Mop/s (formulas of the codes of NPB 2.3)."""

from __future__ import annotations

from math import log

from pymodels.npb import cg, ep, ft, integer_sort, lu, mg, multipartition


def step_operations(code: str, problem: str) -> float:
    """Return the operations of one step of a code, over all processes. Raises KeyError for an unknown code or class."""
    if code == "EP":
        return 2.0 * ep.PAIRS[problem]
    if code == "IS":
        return integer_sort.KEYS[problem]
    if code == "CG":
        elements = cg.NONZERO[problem] * (cg.NONZERO[problem] + 1)
        return 2.0 * cg.ROWS[problem] * (3 + elements + cg.INNER * (5 + elements) + 3)
    if code == "MG":
        return 58.0 * (1 << 3 * mg.LEVELS)
    if code == "FT":
        points = ft.points(problem)
        return points * (5.23518 + 7.21113 * log(points))
    return _of_a_grid(code, lu.GRID[problem] if code == "LU" else multipartition.GRID[problem])


_POLYNOMIALS = {
    "BT": (3478.8, -17655.7, 28023.7, 0.0),
    "SP": (881.174, -4683.91, 11484.5, -19272.4),
    "LU": (1984.77, -10923.3, 27770.9, -144010.0),
}
"""Coefficients in the number of points along a side, cubic term first."""


def _of_a_grid(code: str, side: int) -> float:
    return sum(factor * float(side**power) for factor, power in zip(_POLYNOMIALS[code], (3, 2, 1, 0), strict=True))
