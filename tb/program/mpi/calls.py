"""Calls of the library, in a table from which both the C side and the Python side are generated.

A call is a coroutine under its name in C. Annotations of its parameters name their C types. The library's function, its
prototype and the decoding of its words follow from them. Calls of `names.txt` without a coroutine end the program with
their name.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NewType

Address = NewType("Address", int)
"""Pointer."""
Aint = NewType("Aint", int)
"""64-bit integer."""
Buffer = NewType("Buffer", int)
"""Address of data to read; count and datatype are the next two parameters."""
Count = NewType("Count", int)
"""Count: an int in C, 64 bits in the call of large counts (`MPI_Send_c`)."""
Counts = NewType("Counts", int)
"""Address of counts or displacements, with 64 bits in the call of large counts."""
Given = NewType("Given", int)
"""Address of an int to read."""
NewComm = NewType("NewComm", int)
"""Address of the handle of a new communicator; the handle is MPI_COMM_NULL if the call fails."""
Handle = NewType("Handle", int)
"""Handle of an MPI object; an int in C, a positive number in Python."""
KINDS = {
    "int": "int",
    "Handle": "int",
    "Aint": "long",
    "Count": "int",
    "Counts": "const void *",
    "Address": "const void *",
    "Buffer": "const void *",
    "Given": "const void *",
    "NewComm": "const void *",
}
"""C type of each annotation."""
LOCAL = {
    "MPI_Wtime": "double MPI_Wtime(void)",
    "MPI_Wtick": "double MPI_Wtick(void)",
    "MPI_Alloc_mem": "int MPI_Alloc_mem(long size, int info, void **where)",
    "MPI_Free_mem": "int MPI_Free_mem(void *where)",
    "MPI_Aint_add": "long MPI_Aint_add(long base, long difference)",
    "MPI_Aint_diff": "long MPI_Aint_diff(long one, long other)",
    "MPI_Status_c2f": "int MPI_Status_c2f(const MPI_Status *from, int *to)",
    "MPI_Status_f2c": "int MPI_Status_f2c(const int *from, MPI_Status *to)",
}
"""C declarations of functions that the library implements itself."""
MASKS = {"Handle": 0xFFFFFFFF, **dict.fromkeys(("Address", "Buffer", "Counts", "Given", "NewComm"), (1 << 64) - 1)}
"""Masks of unsigned words."""
MODULES = (
    "environment",
    "sessions",
    "failures",
    "infos",
    "comms",
    "topologies",
    "neighbours",
    "groups",
    "attributes",
    "types",
    "point",
    "waiting",
    "generalized",
    "collectives",
    "operators",
)
"""Modules with calls."""
NAMES = Path(__file__).with_name("names.txt")
LARGE = "_c"
"""Suffix of the names of calls of large counts."""
Handler = Callable[..., Awaitable[Any]]


@dataclass(frozen=True)
class Call:
    """Function of the library."""

    name: str
    parameters: tuple[tuple[str, str], ...]
    """Name and kind of each parameter."""
    handler: Handler | None
    anytime: bool = False
    """True if the call is valid before MPI_Init and after MPI_Finalize."""

    @property
    def plain(self) -> str:
        """Name without the suffix of large counts."""
        return self.name.removesuffix(LARGE)

    @property
    def large(self) -> bool:
        """True if the counts of the call have 64 bits."""
        return self.name.endswith((LARGE, "_x"))

    def arguments(self, words: tuple[int, ...]) -> list[int]:
        """Return the words of a request as arguments of the call."""
        return [
            value & MASKS[kind] if kind in MASKS else value
            for (_, kind), value in zip(self.parameters, words, strict=True)
        ]


_written: dict[str, Call] = {}


def call(*names: str, anytime: bool = False) -> Callable[[Handler], Handler]:
    """Register a coroutine for the calls of these names. Its first argument is the rank.

    A call with counts is also registered with 64-bit counts if the list of names has that call.
    """

    def of(handler: Handler) -> Handler:
        signature = inspect.signature(handler)
        parameters = tuple((one.name, str(one.annotation)) for one in list(signature.parameters.values())[1:])
        large = tuple((name, "Aint" if kind == "Count" else kind) for name, kind in parameters)
        for name in names:
            _written[name] = Call(name, parameters, handler, anytime)
            if f"{name}{LARGE}" in _listed() and {"Count", "Counts"} & {kind for _, kind in parameters}:
                _written[f"{name}{LARGE}"] = Call(f"{name}{LARGE}", large, handler, anytime)
        return handler

    return of


@cache
def _listed() -> frozenset[str]:
    """Return the names of MPICH's functions."""
    return frozenset(NAMES.read_text(encoding="utf-8").split())


@cache
def table() -> tuple[Call, ...]:
    """Return all functions of the library by number."""
    for module in MODULES:
        importlib.import_module(f"tb.program.mpi.{module}")
    names = {*_listed(), *_written}
    return tuple(_written.get(name) or Call(name, (), None) for name in sorted(names - LOCAL.keys()))
