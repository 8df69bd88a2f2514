"""Calls: groups."""

from __future__ import annotations

from firmware.mpi.host.errors import ErrorClass, Misuse
from firmware.mpi.host.groups import Group
from tb.program.mpi import abi
from tb.program.mpi.calls import Address, Handle, call
from tb.program.mpi.rank import Rank


def _keep(rank: Rank, new: Address, group: Group) -> None:
    rank.memory.put_ints(new, rank.groups.new(group) if group.ranks else abi.GROUP_EMPTY)


@call("MPI_Group_size")
async def _size(rank: Rank, group: Handle, size: Address) -> None:
    rank.memory.put_ints(size, rank.groups[group].Get_size())


@call("MPI_Group_rank")
async def _rank(rank: Rank, group: Handle, number: Address) -> None:
    rank.memory.put_ints(number, rank.groups[group].Get_rank())


@call("MPI_Group_incl", "MPI_Group_excl")
async def _choose(rank: Rank, group: Handle, count: int, ranks: Address, new: Address) -> None:
    chosen = rank.memory.ints(ranks, count)
    of = rank.groups[group]
    _keep(rank, new, of.Incl(chosen) if rank.call == "MPI_Group_incl" else of.Excl(chosen))


@call("MPI_Group_range_incl", "MPI_Group_range_excl")
async def _choose_ranges(rank: Rank, group: Handle, count: int, ranges: Address, new: Address) -> None:
    chosen: list[int] = []
    numbers = rank.memory.ints(ranges, 3 * count)
    for first, last, step in zip(numbers[0::3], numbers[1::3], numbers[2::3], strict=True):
        if not step:
            raise Misuse(ErrorClass.ARG, "the step of a range is 0", "give another one")
        chosen += range(first, last + (1 if step > 0 else -1), step)
    of = rank.groups[group]
    _keep(rank, new, of.Incl(chosen) if rank.call == "MPI_Group_range_incl" else of.Excl(chosen))


@call("MPI_Group_union", "MPI_Group_intersection", "MPI_Group_difference")
async def _both(rank: Rank, one: Handle, other: Handle, new: Address) -> None:
    how = {"union": Group.Union, "intersection": Group.Intersection, "difference": Group.Difference}
    _keep(rank, new, how[rank.call.removeprefix("MPI_Group_")](rank.groups[one], rank.groups[other]))


@call("MPI_Group_compare")
async def _compare(rank: Rank, one: Handle, other: Handle, result: Address) -> None:
    rank.memory.put_ints(result, rank.groups[one].Compare(rank.groups[other]))


@call("MPI_Group_translate_ranks")
async def _translate(rank: Rank, one: Handle, count: int, ranks: Address, other: Handle, found: Address) -> None:
    numbers = rank.memory.ints(ranks, count)
    rank.memory.put_ints(found, *rank.groups[one].Translate_ranks(numbers, rank.groups[other]))


@call("MPI_Group_free")
async def _free(rank: Rank, group: Address) -> None:
    handle = rank.memory.handles(group, 1)[0]
    if handle != abi.GROUP_EMPTY:
        rank.groups.pop(handle)
    rank.memory.put_ints(group, abi.GROUP_NULL)
