"""Calls: communicators."""

from __future__ import annotations

from firmware.host.mpi.status import UNDEFINED
from tb.program.mpi import abi
from tb.program.mpi.attributes import copied_attributes, drop_attributes
from tb.program.mpi.calls import Address, Handle, call
from tb.program.mpi.rank import Rank

SHARED = 1
"""MPI_COMM_TYPE_SHARED."""


def _tell(rank: Rank, comm: int, where: int, number: int) -> None:
    """What stays as it is while there is the communicator."""
    rank.memory.put_ints(where, number)
    rank.memory.keep(rank.number, comm, number)


@call("MPI_Comm_rank")
async def _rank(rank: Rank, comm: Handle, number: Address) -> None:
    _tell(rank, comm, number, rank.comm(comm).rank)


@call("MPI_Comm_size")
async def _size(rank: Rank, comm: Handle, size: Address) -> None:
    _tell(rank, comm, size, rank.comm(comm).size)


@call("MPI_Comm_test_inter")
async def _test_inter(rank: Rank, comm: Handle, flag: Address) -> None:
    rank.comm(comm)
    rank.memory.put_ints(flag, 0)


@call("MPI_Comm_get_parent")
async def _get_parent(rank: Rank, parent: Address) -> None:
    rank.memory.put_ints(parent, abi.COMM_NULL)


@call("MPI_Comm_group")
async def _group(rank: Rank, comm: Handle, group: Address) -> None:
    rank.memory.put_ints(group, rank.groups.new(rank.comm(comm).Get_group()))


@call("MPI_Comm_compare")
async def _compare(rank: Rank, one: Handle, other: Handle, result: Address) -> None:
    rank.memory.put_ints(result, rank.comm(one).Compare(rank.comms[other].comm))


@call("MPI_Comm_dup")
async def _dup(rank: Rank, comm: Handle, new: Address) -> None:
    of = rank.communicator(comm)
    copied = await copied_attributes(rank, comm, of.attributes)
    handle = rank.keep(await of.comm.Dup(), of)
    rank.comms[handle].topology, rank.comms[handle].attributes = of.topology, copied
    rank.memory.put_ints(new, handle)


@call("MPI_Comm_dup_with_info")
async def _dup_with_info(rank: Rank, comm: Handle, info: Handle, new: Address) -> None:
    await _dup(rank, comm, new)


@call("MPI_Comm_split")
async def _split(rank: Rank, comm: Handle, color: int, key: int, new: Address) -> None:
    of = rank.communicator(comm)
    rank.memory.put_ints(new, rank.keep(await of.comm.Split(color, key), of))


@call("MPI_Comm_split_type")
async def _split_type(rank: Rank, comm: Handle, kind: int, key: int, info: Handle, new: Address) -> None:
    of = rank.communicator(comm)
    color = UNDEFINED if kind == UNDEFINED else of.comm.rank  # no two hosts share memory
    rank.memory.put_ints(new, rank.keep(await of.comm.Split(color, key), of))


@call("MPI_Comm_create")
async def _create(rank: Rank, comm: Handle, group: Handle, new: Address) -> None:
    of = rank.communicator(comm)
    rank.memory.put_ints(new, rank.keep(await of.comm.Create(rank.groups[group]), of))


@call("MPI_Comm_free", "MPI_Comm_disconnect")
async def _free(rank: Rank, comm: Address) -> None:
    handle = rank.memory.handles(comm, 1)[0]
    of = rank.communicator(handle)
    await drop_attributes(rank, handle, of.attributes)
    await of.comm.Free()
    rank.comms.pop(handle)
    rank.memory.forget()
    rank.within = None
    rank.memory.put_ints(comm, abi.COMM_NULL)


@call("MPI_Comm_set_name")
async def _set_name(rank: Rank, comm: Handle, name: Address) -> None:
    rank.communicator(comm).name = rank.memory.text(name)


@call("MPI_Comm_get_name")
async def _get_name(rank: Rank, comm: Handle, name: Address, length: Address) -> None:
    rank.memory.put_text(name, length, rank.communicator(comm).name, abi.MAX_NAME)
