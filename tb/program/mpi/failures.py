"""Calls: error classes, codes and texts, error handlers."""

from __future__ import annotations

from firmware.mpi.host.errors import ErrorClass, Misuse
from tb.program.mpi import abi
from tb.program.mpi.calls import Address, Handle, call
from tb.program.mpi.rank import Communicator, Rank, Session


@call("MPI_Error_class", anytime=True)
async def _error_class(rank: Rank, code: int, error_class: Address) -> None:
    rank.memory.put_ints(error_class, rank.errors.class_of(code))


@call("MPI_Error_string", anytime=True)
async def _error_string(rank: Rank, code: int, text: Address, length: Address) -> None:
    rank.memory.put_text(text, length, rank.errors.text(code), abi.MAX_ERROR)


@call("MPI_Add_error_class", anytime=True)
async def _add_class(rank: Rank, error_class: Address) -> None:
    rank.memory.put_ints(error_class, rank.errors.new_class())


@call("MPI_Add_error_code", anytime=True)
async def _add_code(rank: Rank, error_class: int, code: Address) -> None:
    rank.memory.put_ints(code, rank.errors.new_code(error_class))


@call("MPI_Add_error_string", anytime=True)
async def _add_string(rank: Rank, code: int, text: Address) -> None:
    rank.errors.name(code, rank.memory.text(text))


@call("MPI_Comm_create_errhandler", "MPI_Errhandler_create")
async def _create_errhandler(rank: Rank, function: Address, errhandler: Address) -> None:
    rank.memory.put_ints(errhandler, rank.errhandlers.new(function))


@call("MPI_Errhandler_free")
async def _errhandler_free(rank: Rank, errhandler: Address) -> None:
    rank.memory.put_ints(errhandler, abi.ERRHANDLER_NULL)


@call("MPI_Comm_set_errhandler", "MPI_Errhandler_set")
async def _set_errhandler(rank: Rank, comm: Handle, errhandler: Handle) -> None:
    rank.errhandlers[errhandler]
    rank.communicator(comm).errhandler = errhandler


@call("MPI_Comm_get_errhandler", "MPI_Errhandler_get")
async def _get_errhandler(rank: Rank, comm: Handle, errhandler: Address) -> None:
    rank.memory.put_ints(errhandler, rank.communicator(comm).errhandler)


@call("MPI_Comm_call_errhandler")
async def _call_errhandler(rank: Rank, comm: Handle, code: int) -> None:
    await call_handler(rank, rank.communicator(comm), code)


async def call_handler(rank: Rank, of: Communicator | Session, code: int) -> None:
    """Call the handler of a communicator or session; the call itself succeeds if that returns. Raises Misuse."""
    if function := rank.errhandlers[of.errhandler]:
        await rank.handle_error(function, of, code)
        return
    if of.errhandler == abi.ERRORS_RETURN or not code:
        return
    cause = f"the program calls its error handler with {rank.errors.text(code)}"
    known = {one.value: one for one in ErrorClass}
    raise Misuse(known.get(rank.errors.class_of(code), ErrorClass.UNKNOWN), cause, "see the program")
