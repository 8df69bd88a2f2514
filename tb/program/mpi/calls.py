"""The calls of the library: the one table from which both sides are made.

A call is a coroutine here, under its name in C. Its parameters are annotated with what they are in C; from these the
library's function and its prototype are generated, and the words that it sends are taken apart. Calls of `names.txt`
that nobody has written end the program with their names.
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
"""A pointer."""
Aint = NewType("Aint", int)
"""A whole number of 64 bits."""
Buffer = NewType("Buffer", int)
"""The address of data that are read; count and datatype are the next two parameters."""
Count = NewType("Count", int)
"""A count: an int in C, of 64 bits in the call of large counts (`MPI_Send_c`)."""
Counts = NewType("Counts", int)
"""The address of counts or of displacements, which have 64 bits in the call of large counts."""
Given = NewType("Given", int)
"""The address of an int that is read."""
NewComm = NewType("NewComm", int)
"""The address of the handle of a new communicator. The handle is MPI_COMM_NULL if the call fails."""
Handle = NewType("Handle", int)
"""What stands for an object of MPI; an int in C, a positive number here."""
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
"""What an annotation is in C."""
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
"""Functions that the library does by itself, as C declares them."""
MASKS = {"Handle": 0xFFFFFFFF, **dict.fromkeys(("Address", "Buffer", "Counts", "Given", "NewComm"), (1 << 64) - 1)}
"""Of words that have no sign."""
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
"""Where calls are."""
NAMES = Path(__file__).with_name("names.txt")
LARGE = "_c"
"""Suffix of the names of calls of large counts."""
Handler = Callable[..., Awaitable[Any]]


@dataclass(frozen=True)
class Call:
    """A function of the library."""

    name: str
    parameters: tuple[tuple[str, str], ...]
    """Name and kind of each."""
    handler: Handler | None
    anytime: bool = False
    """It may be called before MPI_Init and after MPI_Finalize."""

    @property
    def plain(self) -> str:
        """Name without the suffix of large counts."""
        return self.name.removesuffix(LARGE)

    @property
    def large(self) -> bool:
        """True if the counts of the call have 64 bits."""
        return self.name.endswith((LARGE, "_x"))

    def arguments(self, words: tuple[int, ...]) -> list[int]:
        """The words of a request as what they are."""
        return [
            value & MASKS[kind] if kind in MASKS else value
            for (_, kind), value in zip(self.parameters, words, strict=True)
        ]


_written: dict[str, Call] = {}


def call(*names: str, anytime: bool = False) -> Callable[[Handler], Handler]:
    """Make a coroutine the calls of these names; its first argument is the rank, which knows the name.

    A call that has counts is made with 64-bit counts too, where the list of names has that.
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
    """All functions of the library, by number."""
    for module in MODULES:
        importlib.import_module(f"tb.program.mpi.{module}")
    names = {*_listed(), *_written}
    return tuple(_written.get(name) or Call(name, (), None) for name in sorted(names - LOCAL.keys()))
