"""Reduction operators by handle: those of the standard, and those of the program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from firmware.mpi.host.errors import ErrorClass, Misuse
from firmware.mpi.host.operators import OPERATORS, Fold, Op
from tb.program.mpi import abi
from tb.program.mpi.layout import Layout
from tb.program.mpi.memory import Memory
from tb.program.mpi.shapes import collected, spread


def operators() -> dict[int, Op]:
    """Return the operators of the standard."""
    made = {name: Op(op.name, _checked(op.name, op.fold)) for name, op in OPERATORS.items()}
    made["MINLOC"] = Op("MPI_MINLOC", _checked("MPI_MINLOC", _located(np.less)))
    made["MAXLOC"] = Op("MPI_MAXLOC", _checked("MPI_MAXLOC", _located(np.greater)))
    found = {abi.OPERATORS[name]: op for name, op in made.items()}
    return {**found, **{handle: Op(f"MPI_{name}", _refused, False) for name, handle in abi.OF_RMA.items()}}


def _refused(left: Any, right: Any) -> Any:
    raise Misuse(ErrorClass.OP, "the operator is for RMA only", "give another operator")


def _checked(name: str, fold: Fold) -> Fold:
    """Return a fold that raises Misuse for unsupported elements."""

    def checked(left: Any, right: Any) -> Any:
        try:
            return fold(left, right)
        except (TypeError, ValueError, IndexError):
            cause = f"{name} does not support elements {left.dtype}"
            raise Misuse(ErrorClass.OP, cause, "give an operator of this datatype") from None

    return checked


def _located(better: Any) -> Fold:
    """Return a fold that selects the better value with its index, and the lower index of equal values."""

    def fold(left: Any, right: Any) -> Any:
        same = left["value"] == right["value"]
        first = better(left["value"], right["value"]) | (same & (left["index"] <= right["index"]))
        return np.where(first, left, right)

    return fold


@dataclass(frozen=True)
class OfProgram:
    """Operator whose function belongs to the program."""

    function: int
    commute: bool

    def on(self, memory: Memory, datatype: int, layout: Layout) -> Op:
        """Return the operator for elements of a datatype."""

        def fold(left: Any, right: Any) -> Any:
            count = left.nbytes // layout.shape.size if layout.shape.size else 0
            pieces = layout.shape.pieces_of(count)
            start, one = spread(pieces, left.tobytes())
            other = spread(pieces, right.tobytes())[1]
            result = memory.fold(self.function, count, datatype, start, one, other)
            return np.frombuffer(collected(pieces, start, result), left.dtype)

        return Op("an operator of the program", fold, self.commute)


ARITHMETIC, LOGICAL, BITS = ("MAX", "MIN", "SUM", "PROD"), ("LAND", "LOR", "LXOR"), ("BAND", "BOR", "BXOR")
OPERATORS_OF = {
    "integer": {*ARITHMETIC, *LOGICAL, *BITS},
    "floating point": {*ARITHMETIC, *LOGICAL},
    "complex": {"SUM", "PROD"},
    "logical": {*LOGICAL},
    "byte": {*BITS},
    "pair": {"MINLOC", "MAXLOC"},
    "other": set[str](),
}
"""Predefined operators of each group of predefined datatypes, as in MPICH."""
GROUPS = {"i": "integer", "u": "integer", "f": "floating point", "c": "complex", "b": "logical"}
"""Group of a datatype by numpy's kind of its elements."""
EXCEPTIONS = {
    "BYTE": "byte",
    "LOGICAL": "logical",
    **dict.fromkeys(("WCHAR", "PACKED", "REAL16", "COMPLEX32"), "other"),
}
"""Groups of datatypes that do not follow from the numpy kind."""
GROUP_OF = {
    **{handle: EXCEPTIONS.get(name) or GROUPS[np.dtype(kind).kind] for name, (handle, kind) in abi.DATATYPES.items()},
    **{handle: "pair" for handle, _, _ in abi.PAIRS.values()},
    **dict.fromkeys(abi.MARKERS.values(), "other"),
}
"""Group of a predefined datatype by its handle."""


def check_type(op: Op, layout: Layout) -> None:
    """Raise Misuse if a predefined operator does not apply to a datatype."""
    if not (layout.handle and layout.basic):
        cause = f"{op.name} applies to predefined datatypes, not to {layout.name}"
        raise Misuse(ErrorClass.OP, cause, "make an operator by MPI_Op_create")
    group = GROUP_OF[layout.basic]
    if op.name.removeprefix("MPI_") not in OPERATORS_OF[group]:
        cause = f"{op.name} does not apply to {layout.name} ({group})"
        raise Misuse(ErrorClass.OP, cause, f"give one of {', '.join(sorted(OPERATORS_OF[group])) or 'MPI_Op_create'}")
