"""Calls: generalized requests, which the program completes itself."""

from __future__ import annotations

from firmware.mpi.host.buffers import view
from firmware.mpi.host.errors import ErrorClass, Misuse
from firmware.mpi.host.matching import ANY, Key
from firmware.mpi.host.operation import Operation
from firmware.mpi.host.requests import Request
from tb.program.mpi.calls import Address, Handle, call
from tb.program.mpi.rank import Generalized, Pending, Rank


@call("MPI_Grequest_start")
async def _start(rank: Rank, query: Address, free: Address, cancel: Address, extra: Address, request: Address) -> None:
    operation = Operation("MPI_Grequest_start", [], Key(0, ANY, ANY), view(None), ANY)
    made = Generalized(operation, query, free, cancel, extra)
    pending = Pending(Request(rank.mpi.engine, operation), rank.within, generalized=made)
    rank.memory.put_ints(request, rank.requests.new(pending))


@call("MPI_Grequest_complete")
async def _complete(rank: Rank, request: Handle) -> None:
    _made(rank, request).operation.finish()


@call("MPII_Grequest_set_lang_f77")
async def _set_fortran(rank: Rank, request: Handle) -> None:
    _made(rank, request).fortran = True


def _made(rank: Rank, request: int) -> Generalized:
    """Return a generalized request. Raises Misuse for another one."""
    made = rank.requests[request].generalized
    if made is None:
        cause = "the request is not generalized"
        raise Misuse(ErrorClass.REQUEST, cause, "give a request of MPI_Grequest_start")
    return made
