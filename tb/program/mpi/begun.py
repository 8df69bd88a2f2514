"""Collectives of programs: one function reads the arguments of a collective, and makes both of its calls."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from tb.program.mpi.calls import call
from tb.program.mpi.rank import AnyComm, Pending, Rank


class Prepared(NamedTuple):
    """A collective whose arguments have been read from the program's memory."""

    of: AnyComm
    arguments: tuple[Any, ...]
    """Arguments of the layer's method."""
    write: Callable[[], None] | None = None
    """Put what has come into the program's memory."""


Prepare = Callable[..., Prepared]


def collective(*names: str, method: str = "") -> Callable[[Prepare], Prepare]:
    """Make a function the calls `MPI_Name` and `MPI_Iname`; the second one has a request as its last parameter.

    Args:
        names: Names of the calls, without `MPI_`.
        method: Method of the layer; empty: that of the same name.
    """

    def of(prepare: Prepare) -> Prepare:
        for name in names:
            _register(name, method or name, prepare)
        return prepare

    return of


def _register(name: str, method: str, prepare: Prepare) -> None:
    async def blocking(rank: Rank, *words: Any) -> None:
        of, arguments, write = prepare(rank, *words)
        await getattr(of, method)(*arguments)
        if write:
            write()

    async def begin(rank: Rank, *words: Any) -> None:
        of, arguments, write = prepare(rank, *words[:-1])
        request = await getattr(of, f"I{method.lower()}")(*arguments)
        rank.memory.put_ints(words[-1], rank.requests.new(Pending(request, rank.within, at_end=write)))

    signature = inspect.signature(prepare)
    request = inspect.Parameter("request", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation="Address")
    _signed(blocking, signature)
    _signed(begin, signature.replace(parameters=[*signature.parameters.values(), request]))
    call(f"MPI_{name}")(blocking)
    call(f"MPI_I{name.lower()}")(begin)


def _signed(handler: Any, signature: inspect.Signature) -> None:
    """Let a handler have the parameters of a call."""
    handler.__signature__ = signature
