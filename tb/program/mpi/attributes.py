"""Calls: attributes of communicators and datatypes."""

from __future__ import annotations

from firmware.host.mpi.comm import TAG_UB
from firmware.host.mpi.errors import ErrorClass, Misuse
from tb.program.mpi import abi
from tb.program.mpi.calls import Address, Handle, call
from tb.program.mpi.rank import Keyval, Rank

KNOWN = (abi.TAG_UB, abi.WTIME_IS_GLOBAL, abi.LASTUSEDCODE)
"""Attributes that communicators have from the beginning; those that are not here have no value."""
COPY_AT = 256
CALLBACK = "the program's function for an attribute failed"


@call("MPI_Comm_create_keyval", "MPI_Type_create_keyval", "MPI_Keyval_create")
async def _create_keyval(rank: Rank, copy: Address, delete: Address, keyval: Address, extra: Address) -> None:
    rank.memory.put_ints(keyval, rank.keyvals.new(Keyval(copy, delete, extra)))


@call("MPI_Comm_free_keyval", "MPI_Type_free_keyval", "MPI_Keyval_free")
async def _free_keyval(rank: Rank, keyval: Address) -> None:
    rank.keyvals[rank.memory.handles(keyval, 1)[0]]
    rank.memory.put_ints(keyval, abi.KEYVAL_INVALID)


@call("MPI_Comm_set_attr", "MPI_Attr_put")
async def _comm_set(rank: Rank, comm: Handle, keyval: Handle, value: Address) -> None:
    await _set(rank, comm, rank.communicator(comm).attributes, keyval, value)


@call("MPI_Type_set_attr")
async def _type_set(rank: Rank, datatype: Handle, keyval: Handle, value: Address) -> None:
    await _set(rank, datatype, rank.types[datatype].attributes, keyval, value)


async def _set(rank: Rank, of: int, attributes: dict[int, int], keyval: int, value: int) -> None:
    rank.keyvals[keyval]
    if keyval in attributes:
        await _drop(rank, of, attributes, keyval)
    attributes[keyval] = value


@call("MPI_Comm_get_attr", "MPI_Attr_get")
async def _comm_get(rank: Rank, comm: Handle, keyval: Handle, value: Address, flag: Address) -> None:
    attributes = rank.communicator(comm).attributes
    if keyval in KNOWN and comm in (abi.COMM_WORLD, abi.COMM_SELF):
        at = KNOWN.index(keyval)
        rank.memory.put_ints(rank.scratch() + 8 * at, (TAG_UB, 1, rank.errors.last)[at])
        rank.memory.put_longs(value, rank.scratch() + 8 * at)
        rank.memory.put_ints(flag, 1)
        return
    _get(rank, attributes, keyval, value, flag)


@call("MPI_Type_get_attr")
async def _type_get(rank: Rank, datatype: Handle, keyval: Handle, value: Address, flag: Address) -> None:
    _get(rank, rank.types[datatype].attributes, keyval, value, flag)


def _get(rank: Rank, attributes: dict[int, int], keyval: int, value: Address, flag: Address) -> None:
    if keyval in attributes:
        rank.memory.put(value, attributes[keyval].to_bytes(8, "little"))
    rank.memory.put_ints(flag, int(keyval in attributes))


@call("MPI_Comm_delete_attr", "MPI_Attr_delete")
async def _comm_delete(rank: Rank, comm: Handle, keyval: Handle) -> None:
    await _delete(rank, comm, rank.communicator(comm).attributes, keyval)


@call("MPI_Type_delete_attr")
async def _type_delete(rank: Rank, datatype: Handle, keyval: Handle) -> None:
    await _delete(rank, datatype, rank.types[datatype].attributes, keyval)


async def _delete(rank: Rank, of: int, attributes: dict[int, int], keyval: int) -> None:
    if keyval not in attributes:
        raise Misuse(ErrorClass.ARG, "there is no attribute of this key", "set it first")
    await _drop(rank, of, attributes, keyval)


async def _drop(rank: Rank, of: int, attributes: dict[int, int], keyval: int) -> None:
    known, value = rank.keyvals[keyval], attributes.pop(keyval)
    if known.delete and await rank.callback(known.delete, of, keyval, value, known.extra):
        raise Misuse(ErrorClass.OTHER, CALLBACK, "see MPI_Comm_create_keyval")


async def drop_attributes(rank: Rank, comm: int) -> None:
    """Before a communicator ends: its attributes, the last one first."""
    attributes = rank.comms[comm].attributes
    for keyval in reversed(list(attributes)):
        await _drop(rank, comm, attributes, keyval)


async def copy_attributes(rank: Rank, comm: int, new: int) -> None:
    """MPI_Comm_dup: the attributes whose keys have a function for copies, where that says so."""
    source, target = rank.comms[comm].attributes, rank.comms[new].attributes
    for keyval, value in source.items():
        known, room = rank.keyvals[keyval], rank.scratch() + COPY_AT
        if not known.copy:
            continue
        if await rank.callback(known.copy, comm, keyval, known.extra, value, room, room + 8):
            raise Misuse(ErrorClass.OTHER, CALLBACK, "see MPI_Comm_create_keyval")
        copied, flag = rank.memory.longs(room, 2)
        if flag & 0xFFFFFFFF:
            target[keyval] = copied
