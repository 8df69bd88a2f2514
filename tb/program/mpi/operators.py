"""Calls: operators."""

from __future__ import annotations

from firmware.mpi.host.communicator import Comm
from firmware.mpi.host.errors import ErrorClass, Misuse
from tb.program.mpi import abi
from tb.program.mpi.calls import Address, Count, Handle, call
from tb.program.mpi.collectives import check_apart
from tb.program.mpi.operate import OfProgram
from tb.program.mpi.rank import Rank


@call("MPI_Op_create", "MPI_Op_create_c")
async def _create(rank: Rank, function: Address, commute: int, op: Address) -> None:
    rank.memory.put_ints(op, rank.ops.new(OfProgram(function, bool(commute))))


@call("MPI_Op_free")
async def _free(rank: Rank, op: Address) -> None:
    handle = rank.memory.handles(op, 1)[0]
    if handle in abi.OPERATORS.values():
        raise Misuse(ErrorClass.OP, "the operator is predefined", "free operators of MPI_Op_create only")
    rank.ops.pop(handle)
    rank.memory.put_ints(op, abi.OP_NULL)


@call("MPI_Op_commutative")
async def _commutative(rank: Rank, op: Handle, commute: Address) -> None:
    rank.memory.put_ints(commute, int(rank.ops[op].commute))


@call("MPI_Reduce_local")
async def _reduce_local(
    rank: Rank, buf: Address, into_buf: Address, count: Count, datatype: Handle, op: Handle
) -> None:
    check_apart(buf, into_buf, count)
    into = rank.data(into_buf, count, datatype)
    own = rank.comms[abi.COMM_SELF].comm
    assert isinstance(own, Comm)
    await own.Reduce_local(rank.data(buf, count, datatype).spec, into.spec, rank.op(op, datatype))
    into.write()
