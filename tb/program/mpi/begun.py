"""Collectives of programs: one function reads the arguments of a collective for all of its calls."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from firmware.mpi.host.requests import Request
from tb.program.mpi.calls import call
from tb.program.mpi.rank import AnyComm, Pending, Rank


class Prepared(NamedTuple):
    """A collective whose arguments have been read from the program's memory."""

    of: AnyComm
    arguments: tuple[Any, ...]
    """Arguments of the layer's method."""
    write: Callable[[], None] | None = None
    """Function that writes the received data to the program's memory."""


Prepare = Callable[..., Prepared]


def collective(*names: str, method: str = "") -> Callable[[Prepare], Prepare]:
    """Make a function the calls `MPI_Name`, `MPI_Iname` and `MPI_Name_init`, and those of large counts.

    The last two have a request as their last parameter, and a persistent one an info before it.

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

    async def make(rank: Rank, *words: Any) -> None:
        of = prepare(rank, *words[:-2]).of
        pending, large = Pending(Request(rank.mpi.engine), rank.within, persistent=True), rank.large

        def arguments() -> tuple[Any, ...]:
            """Read the arguments at a start."""
            rank.large = large
            _, given, pending.at_end = prepare(rank, *words[:-2])
            return given

        pending.request = of.Persistent(method, arguments)
        rank.memory.put_ints(words[-1], rank.requests.new(pending))

    _signed(f"MPI_{name}", blocking, prepare)
    _signed(f"MPI_I{name.lower()}", begin, prepare, request="Address")
    _signed(f"MPI_{name}_init", make, prepare, info="Handle", request="Address")


def _signed(name: str, handler: Any, prepare: Prepare, **more: str) -> None:
    """Make a coroutine a call with the parameters of a function, and with more."""
    signature = inspect.signature(prepare)
    added = [
        inspect.Parameter(one, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=kind) for one, kind in more.items()
    ]
    handler.__signature__ = signature.replace(parameters=[*signature.parameters.values(), *added])
    call(name)(handler)
