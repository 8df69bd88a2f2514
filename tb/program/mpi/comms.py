"""Calls: communicators."""

from __future__ import annotations

from firmware.mpi.host.errors import ErrorClass, Misuse
from firmware.mpi.host.intercomm import Intercomm, create_intercomm
from firmware.mpi.host.status import UNDEFINED
from tb.program.mpi import abi
from tb.program.mpi.attributes import copied_attributes, drop_attributes
from tb.program.mpi.calls import Address, Handle, NewComm, call
from tb.program.mpi.rank import AnyComm, Communicator, Pending, Rank

SHARED, HW_GUIDED, HW_UNGUIDED = 1, 2, 3
"""Split types of MPI_Comm_split_type."""


def _tell(rank: Rank, comm: int, where: int, number: int) -> None:
    """Write a number that is constant for the communicator, and let the library cache it."""
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
    rank.memory.put_ints(flag, int(isinstance(rank.comm(comm), Intercomm)))


@call("MPI_Comm_remote_size")
async def _remote_size(rank: Rank, comm: Handle, size: Address) -> None:
    _tell(rank, comm, size, rank.intercomm(comm).remote_size)


@call("MPI_Comm_remote_group")
async def _remote_group(rank: Rank, comm: Handle, group: Address) -> None:
    rank.memory.put_ints(group, rank.groups.new(rank.intercomm(comm).Get_remote_group()))


@call("MPI_Intercomm_create")
async def _intercomm_create(
    rank: Rank, local: Handle, leader: int, peer: Handle, remote_leader: int, tag: int, new: NewComm
) -> None:
    comm = rank.intracomm(local)
    of = rank.comms[local]
    bridge = rank.comms[peer].comm if comm.rank == leader else None
    rank.memory.put_ints(new, rank.keep(await create_intercomm(comm, leader, bridge, remote_leader, tag), of))


@call("MPI_Intercomm_merge")
async def _intercomm_merge(rank: Rank, comm: Handle, high: int, new: NewComm) -> None:
    made = await rank.intercomm(comm).Merge(bool(high))
    rank.memory.put_ints(new, rank.keep(made, rank.comms[comm]))


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
async def _dup(rank: Rank, comm: Handle, new: NewComm) -> None:
    of = rank.communicator(comm)
    await _copied(rank, of, await of.comm.Dup(), new, of.info)


@call("MPI_Comm_dup_with_info")
async def _dup_with_info(rank: Rank, comm: Handle, info: Handle, new: NewComm) -> None:
    of = rank.communicator(comm)
    await _copied(rank, of, await of.comm.Dup(), new, rank.hints(info))


@call("MPI_Comm_idup")
async def _idup(rank: Rank, comm: Handle, new: NewComm, request: Address) -> None:
    of = rank.communicator(comm)
    await _begun(rank, of, of.info, new, request)


@call("MPI_Comm_idup_with_info")
async def _idup_with_info(rank: Rank, comm: Handle, info: Handle, new: NewComm, request: Address) -> None:
    await _begun(rank, rank.communicator(comm), rank.hints(info), new, request)


async def _begun(rank: Rank, of: Communicator, info: dict[str, str], new: int, request: Address) -> None:
    made, begun = await of.comm.Idup()
    await _copied(rank, of, made, new, info)
    rank.memory.put_ints(request, rank.requests.new(Pending(begun, of)))


async def _copied(rank: Rank, of: Communicator, made: AnyComm, new: int, info: dict[str, str]) -> None:
    """Register a duplicate with the attributes, topology and info of its communicator. Raises Misuse if a
    copy function fails.
    """
    rank.memory.put_ints(new, abi.COMM_NULL)
    attributes = await copied_attributes(rank, of.handle, of.attributes)
    handle = rank.keep(made, of)
    copy = rank.comms[handle]
    copy.topology, copy.attributes, copy.info = of.topology, attributes, dict(info)
    rank.memory.put_ints(new, handle)


@call("MPI_Comm_set_info")
async def _set_info(rank: Rank, comm: Handle, info: Handle) -> None:
    rank.communicator(comm).info.update(rank.hints(info))


@call("MPI_Comm_get_info")
async def _get_info(rank: Rank, comm: Handle, info: Address) -> None:
    rank.memory.put_ints(info, rank.infos.new(dict(rank.communicator(comm).info)))


@call("MPI_Comm_create_group")
async def _create_group(rank: Rank, comm: Handle, group: Handle, tag: int, new: NewComm) -> None:
    made = await rank.intracomm(comm).Create_group(rank.groups[group], tag)
    rank.memory.put_ints(new, rank.keep(made, rank.comms[comm]))


@call("MPI_Comm_split")
async def _split(rank: Rank, comm: Handle, color: int, key: int, new: NewComm) -> None:
    of = rank.communicator(comm)
    rank.memory.put_ints(new, rank.keep(await of.comm.Split(color, key), of))


@call("MPI_Comm_split_type")
async def _split_type(rank: Rank, comm: Handle, kind: int, key: int, info: Handle, new: NewComm) -> None:
    of = rank.communicator(comm)
    if kind not in (SHARED, HW_GUIDED, HW_UNGUIDED, UNDEFINED):
        raise Misuse(ErrorClass.ARG, f"invalid split type {kind}", "give MPI_COMM_TYPE_SHARED")
    color = of.comm.rank if kind == SHARED else UNDEFINED  # hosts share no memory and have no named parts
    rank.memory.put_ints(new, rank.keep(await of.comm.Split(color, key), of))


@call("MPI_Comm_create")
async def _create(rank: Rank, comm: Handle, group: Handle, new: NewComm) -> None:
    of = rank.communicator(comm)
    rank.memory.put_ints(new, rank.keep(await of.comm.Create(rank.groups[group]), of))


@call("MPI_Comm_free", "MPI_Comm_disconnect")
async def _free(rank: Rank, comm: Address) -> None:
    handle = rank.memory.handles(comm, 1)[0]
    of = rank.communicator(handle)
    if handle in (abi.COMM_WORLD, abi.COMM_SELF):
        raise Misuse(ErrorClass.COMM, f"{of.comm.name} exists until MPI_Finalize", "free other communicators")
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
