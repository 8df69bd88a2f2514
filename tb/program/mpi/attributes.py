"""Calls: attributes of communicators and datatypes."""

from __future__ import annotations

from enum import IntEnum

from firmware.mpi.host.comm import TAG_UB
from firmware.mpi.host.errors import ErrorClass, Misuse
from firmware.mpi.host.status import ANY_SOURCE, PROC_NULL
from tb.program.mpi import abi
from tb.program.mpi.calls import Address, Handle, call
from tb.program.mpi.error_codes import FunctionFailed
from tb.program.mpi.layout import Attribute
from tb.program.mpi.rank import Keyval, Rank

COPY_AT = 256
"""Offset in the library's scratch memory of the two words that a copy function writes."""
CALLBACK = "see MPI_Comm_create_keyval"


class Kind(IntEnum):
    """Language in which an attribute is set or read, numbered as MPICH's Fortran library does."""

    POINTER = 0
    LONG = 1
    INT = 3


def _predefined(rank: Rank, keyval: int) -> int | None:
    """Return the value of an attribute that MPI sets, or None for other keys."""
    return {
        abi.TAG_UB: TAG_UB,
        abi.HOST: PROC_NULL,
        abi.IO: ANY_SOURCE,
        abi.WTIME_IS_GLOBAL: 1,
        abi.UNIVERSE_SIZE: rank.ranks,
        abi.LASTUSEDCODE: rank.errors.last,
        abi.APPNUM: 0,
    }.get(keyval)


def _kind(rank: Rank) -> str:
    """Return the kind of object whose attributes the present call is about."""
    return next((kind for kind in ("Type", "Win") if kind in rank.call), "Comm")


@call("MPI_Comm_create_keyval", "MPI_Type_create_keyval", "MPI_Win_create_keyval", "MPI_Keyval_create")
async def _create_keyval(rank: Rank, copy: Address, delete: Address, keyval: Address, extra: Address) -> None:
    rank.memory.put_ints(keyval, rank.keyvals.new(Keyval(copy, delete, extra, _kind(rank))))


@call("MPII_Keyval_set_proxy")
async def _set_proxy(rank: Rank, keyval: Handle, copy: Address, delete: Address) -> None:
    """Let functions of another language be called through these two of that language's library."""
    known = rank.keyvals[keyval]
    known.copy_proxy, known.delete_proxy = copy, delete


@call("MPI_Comm_free_keyval", "MPI_Type_free_keyval", "MPI_Win_free_keyval", "MPI_Keyval_free")
async def _free_keyval(rank: Rank, keyval: Address) -> None:
    """Invalidate a key. Attributes that have it keep its functions."""
    _known(rank, rank.memory.handles(keyval, 1)[0]).freed = True
    rank.memory.put_ints(keyval, abi.KEYVAL_INVALID)


def _known(rank: Rank, keyval: int) -> Keyval:
    """Return a key that the program may use in the present call: attributes keep a freed one valid. Raises Misuse."""
    known = rank.keyvals[keyval]
    if (known.freed and not known.uses) or known.kind != _kind(rank):
        cause = "was freed" if known.freed and not known.uses else f"is for MPI_{known.kind}_set_attr"
        raise Misuse(ErrorClass.KEYVAL, f"keyval {keyval:#010x} {cause}", "create another one")
    return known


@call("MPI_Comm_set_attr", "MPI_Attr_put")
async def _comm_set(rank: Rank, comm: Handle, keyval: Handle, value: Address) -> None:
    await _set(rank, comm, rank.communicator(comm).attributes, keyval, Attribute(value, Kind.POINTER))


@call("MPII_Comm_set_attr")
async def _comm_set_kind(rank: Rank, comm: Handle, keyval: Handle, value: Address, kind: int) -> None:
    await _set(rank, comm, rank.communicator(comm).attributes, keyval, Attribute(value, kind))


@call("MPI_Type_set_attr")
async def _type_set(rank: Rank, datatype: Handle, keyval: Handle, value: Address) -> None:
    await _set(rank, datatype, rank.types[datatype].attributes, keyval, Attribute(value, Kind.POINTER))


@call("MPII_Type_set_attr")
async def _type_set_kind(rank: Rank, datatype: Handle, keyval: Handle, value: Address, kind: int) -> None:
    await _set(rank, datatype, rank.types[datatype].attributes, keyval, Attribute(value, kind))


async def _set(rank: Rank, of: int, attributes: dict[int, Attribute], keyval: int, attribute: Attribute) -> None:
    known = _known(rank, keyval)
    if keyval in attributes:
        await _drop(rank, of, attributes, keyval)
    known.uses += 1
    attributes[keyval] = attribute


@call("MPI_Comm_get_attr", "MPI_Attr_get")
async def _comm_get(rank: Rank, comm: Handle, keyval: Handle, value: Address, flag: Address) -> None:
    attributes = rank.communicator(comm).attributes
    predefined = _predefined(rank, keyval)
    if predefined is None:
        _get(rank, attributes, keyval, value, flag, Kind.POINTER)
        return
    at = rank.scratch() + (keyval & 0xF) // 2 * 8
    rank.memory.put_ints(at, predefined)
    rank.memory.put_longs(value, at)
    rank.memory.put_ints(flag, 1)


@call("MPII_Comm_get_attr")
async def _comm_get_kind(rank: Rank, comm: Handle, keyval: Handle, value: Address, flag: Address, kind: int) -> None:
    """Read an attribute from Fortran, whose predefined keys are by one larger and have values, not addresses."""
    attributes = rank.communicator(comm).attributes
    predefined = _predefined(rank, keyval - 1)
    known = attributes if predefined is None else {int(keyval): Attribute(predefined, kind)}
    _get(rank, known, keyval, value, flag, kind)


@call("MPI_Type_get_attr")
async def _type_get(rank: Rank, datatype: Handle, keyval: Handle, value: Address, flag: Address) -> None:
    _get(rank, rank.types[datatype].attributes, keyval, value, flag, Kind.POINTER)


@call("MPII_Type_get_attr")
async def _type_get_kind(
    rank: Rank, datatype: Handle, keyval: Handle, value: Address, flag: Address, kind: int
) -> None:
    _get(rank, rank.types[datatype].attributes, keyval, value, flag, kind)


def _get(rank: Rank, attributes: dict[int, Attribute], keyval: int, value: Address, flag: Address, kind: int) -> None:
    found = attributes.get(keyval)
    if found is None:
        rank.keyvals[keyval]
    elif kind == Kind.POINTER != found.kind:
        cause = "the attribute is a number set by Fortran"
        raise Misuse(ErrorClass.OTHER, cause, "read it in Fortran; C would need its address")
    elif kind == Kind.INT:
        rank.memory.put_ints(value, found.value)
    else:
        rank.memory.put(value, (found.value & (1 << 64) - 1).to_bytes(8, "little"))
    rank.memory.put_ints(flag, int(found is not None))


@call("MPI_Comm_delete_attr", "MPI_Attr_delete")
async def _comm_delete(rank: Rank, comm: Handle, keyval: Handle) -> None:
    await _delete(rank, comm, rank.communicator(comm).attributes, keyval)


@call("MPI_Type_delete_attr")
async def _type_delete(rank: Rank, datatype: Handle, keyval: Handle) -> None:
    await _delete(rank, datatype, rank.types[datatype].attributes, keyval)


async def _delete(rank: Rank, of: int, attributes: dict[int, Attribute], keyval: int) -> None:
    _known(rank, keyval)
    if keyval in attributes:
        await _drop(rank, of, attributes, keyval)


async def _drop(rank: Rank, of: int, attributes: dict[int, Attribute], keyval: int) -> None:
    """Call the delete function of an attribute, which stays where that fails. Raises Misuse."""
    known, (value, kind) = rank.keyvals[keyval], attributes[keyval]
    if known.delete:
        if known.delete_proxy:
            code = await rank.callback(known.delete_proxy, known.delete, of, keyval, kind, value, known.extra)
        else:
            code = await rank.callback(known.delete, of, keyval, value, known.extra)
        if code:
            raise FunctionFailed(code, rank.errors.text(code), CALLBACK)
    known.uses -= 1
    attributes.pop(keyval, None)


async def drop_attributes(rank: Rank, of: int, attributes: dict[int, Attribute]) -> None:
    """Delete the attributes of an object that ends, the last one first. Raises Misuse where a function fails."""
    for keyval in reversed(list(attributes)):
        await _drop(rank, of, attributes, keyval)


async def copied_attributes(rank: Rank, of: int, attributes: dict[int, Attribute]) -> dict[int, Attribute]:
    """Return the attributes of a duplicate: those whose keys have a copy function that says so. Raises Misuse."""
    target = {}
    for keyval, (value, kind) in list(attributes.items()):
        known, room = rank.keyvals[keyval], rank.scratch() + COPY_AT
        if not known.copy:
            continue
        given: tuple[int, ...]
        if known.copy_proxy:
            given = (known.copy_proxy, known.copy, of, keyval, known.extra, kind, value, room, room + 8)
        else:
            given = (known.copy, of, keyval, known.extra, value, room, room + 8)
        if code := await rank.callback(*given):
            raise FunctionFailed(code, rank.errors.text(code), CALLBACK)
        copied, flag = rank.memory.longs(room, 2)
        if flag & 0xFFFFFFFF:
            known.uses += 1
            target[keyval] = Attribute(copied & (1 << 64) - 1, kind)
    return target
