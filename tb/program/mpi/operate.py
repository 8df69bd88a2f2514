"""Operators of reductions by handle: those of the standard, and those of the program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from firmware.host.mpi.errors import ErrorClass, Misuse
from firmware.host.mpi.operators import OPERATORS, Fold, Op
from tb.program.mpi import abi
from tb.program.mpi.layout import Layout
from tb.program.mpi.memory import Memory


def operators() -> dict[int, Op]:
    """The operators of the standard."""
    made = {name: Op(op.name, _checked(op.name, op.fold)) for name, op in OPERATORS.items()}
    made["MINLOC"] = Op("MPI_MINLOC", _checked("MPI_MINLOC", _located(np.less)))
    made["MAXLOC"] = Op("MPI_MAXLOC", _checked("MPI_MAXLOC", _located(np.greater)))
    found = {abi.OPERATORS[name]: op for name, op in made.items()}
    return {**found, **{handle: Op(f"MPI_{name}", _refused, False) for name, handle in abi.OF_RMA.items()}}


def _refused(left: Any, right: Any) -> Any:
    raise Misuse(ErrorClass.OP, "the operator is for RMA only", "give another one")


def _checked(name: str, fold: Fold) -> Fold:
    """The same. It raises Misuse for elements that it cannot fold."""

    def checked(left: Any, right: Any) -> Any:
        try:
            return fold(left, right)
        except (TypeError, ValueError, IndexError):
            cause = f"{name} is not for elements {left.dtype}"
            raise Misuse(ErrorClass.OP, cause, "give an operator that the datatype has") from None

    return checked


def _located(better: Any) -> Fold:
    """The better value with its index; of equal ones the lower index."""

    def fold(left: Any, right: Any) -> Any:
        same = left["value"] == right["value"]
        first = better(left["value"], right["value"]) | (same & (left["index"] <= right["index"]))
        return np.where(first, left, right)

    return fold


@dataclass(frozen=True)
class OfProgram:
    """An operator whose function is the program's."""

    function: int
    commute: bool

    def on(self, memory: Memory, datatype: int, layout: Layout) -> Op:
        """The same for elements of a datatype. Raises Misuse."""
        if not layout.layer.contiguous:
            cause = f"{layout.name} has gaps"
            raise Misuse(ErrorClass.OP, cause, "operators of a program take elements without gaps here")

        def fold(left: Any, right: Any) -> Any:
            count = left.nbytes // layout.layer.size
            result = memory.fold(self.function, count, datatype, left.tobytes(), right.tobytes())
            return np.frombuffer(result, left.dtype)

        return Op("an operator of the program", fold, self.commute)
