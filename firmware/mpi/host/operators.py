"""Operators of reductions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

Fold = Callable[[Any, Any], Any]
"""Function of two arrays of equal elements."""


class Op:
    """Operator: an associative function of two arrays, of which the left one is that of the lower ranks."""

    def __init__(self, name: str, fold: Fold, commute: bool = True) -> None:
        self.name, self.fold, self.commute = name, fold, commute

    def __repr__(self) -> str:
        return f"<Op {self.name}>"

    @staticmethod
    def Create(function: Fold, commute: bool = False) -> Op:
        """Return an operator of the application (`MPI_Op_create`). A non-commutative one is applied in the order of
        ranks.
        """
        return Op(getattr(function, "__name__", "function"), function, commute)


def _logical(fold: Any) -> Fold:
    return lambda left, right: fold(left, right).astype(left.dtype)


OPERATORS: Mapping[str, Op] = {
    name: Op(f"MPI_{name}", fold)
    for name, fold in (
        ("SUM", np.add),
        ("PROD", np.multiply),
        ("MAX", np.maximum),
        ("MIN", np.minimum),
        ("BAND", np.bitwise_and),
        ("BOR", np.bitwise_or),
        ("BXOR", np.bitwise_xor),
        ("LAND", _logical(np.logical_and)),
        ("LOR", _logical(np.logical_or)),
        ("LXOR", _logical(np.logical_xor)),
    )
}
SUM, PROD, MAX, MIN = (OPERATORS[name] for name in ("SUM", "PROD", "MAX", "MIN"))
BAND, BOR, BXOR = (OPERATORS[name] for name in ("BAND", "BOR", "BXOR"))
LAND, LOR, LXOR = (OPERATORS[name] for name in ("LAND", "LOR", "LXOR"))
