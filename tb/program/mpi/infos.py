"""Calls: infos."""

from __future__ import annotations

from firmware.mpi.host.errors import ErrorClass, Misuse
from tb.program.mpi import abi
from tb.program.mpi.calls import Address, Handle, call
from tb.program.mpi.rank import Rank


@call("MPI_Info_create", anytime=True)
async def _create(rank: Rank, info: Address) -> None:
    rank.memory.put_ints(info, rank.infos.new({}))


@call("MPI_Info_dup", anytime=True)
async def _dup(rank: Rank, info: Handle, new: Address) -> None:
    rank.memory.put_ints(new, rank.infos.new(dict(rank.infos[info])))


@call("MPI_Info_set", anytime=True)
async def _set(rank: Rank, info: Handle, key: Address, value: Address) -> None:
    rank.infos[info][rank.memory.text(key)] = rank.memory.text(value)


@call("MPI_Info_delete", anytime=True)
async def _delete(rank: Rank, info: Handle, key: Address) -> None:
    name = rank.memory.text(key)
    if rank.infos[info].pop(name, None) is None:
        raise Misuse(ErrorClass.INFO_NOKEY, f"the info has no key {name!r}", "set it first")


@call("MPI_Info_get", anytime=True)
async def _get(rank: Rank, info: Handle, key: Address, most: int, value: Address, flag: Address) -> None:
    found = rank.infos[info].get(rank.memory.text(key))
    if found is not None:
        rank.memory.put(value, found.encode()[:most] + b"\0")
    rank.memory.put_ints(flag, int(found is not None))


@call("MPI_Info_get_valuelen", anytime=True)
async def _get_valuelen(rank: Rank, info: Handle, key: Address, length: Address, flag: Address) -> None:
    found = rank.infos[info].get(rank.memory.text(key))
    if found is not None:
        rank.memory.put_ints(length, len(found.encode()))
    rank.memory.put_ints(flag, int(found is not None))


@call("MPI_Info_get_string", anytime=True)
async def _get_string(rank: Rank, info: Handle, key: Address, length: Address, value: Address, flag: Address) -> None:
    """Write a value truncated to the given length, and replace the length by that of the whole value."""
    found = rank.infos[info].get(rank.memory.text(key))
    if found is not None:
        data = found.encode()
        if room := rank.memory.ints(length, 1)[0]:
            rank.memory.put(value, data[: room - 1] + b"\0")
        rank.memory.put_ints(length, len(data) + 1)
    rank.memory.put_ints(flag, int(found is not None))


@call("MPI_Info_create_env", anytime=True)
async def _create_env(rank: Rank, argc: int, argv: Address, info: Address) -> None:
    rank.memory.put_ints(info, rank.infos.new(dict(rank.infos[abi.INFO_ENV])))


@call("MPI_Info_get_nkeys", anytime=True)
async def _get_nkeys(rank: Rank, info: Handle, count: Address) -> None:
    rank.memory.put_ints(count, len(rank.infos[info]))


@call("MPI_Info_get_nthkey", anytime=True)
async def _get_nthkey(rank: Rank, info: Handle, number: int, key: Address) -> None:
    keys = list(rank.infos[info])
    if not 0 <= number < len(keys):
        raise Misuse(ErrorClass.ARG, f"key {number} of {len(keys)}", "call MPI_Info_get_nkeys for the number of keys")
    rank.memory.put(key, keys[number].encode()[: abi.MAX_INFO_KEY] + b"\0")


@call("MPI_Info_free", anytime=True)
async def _free(rank: Rank, info: Address) -> None:
    rank.infos.pop(rank.memory.handles(info, 1)[0])
    rank.memory.put_ints(info, abi.INFO_NULL)
