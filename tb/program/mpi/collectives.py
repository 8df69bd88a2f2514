"""Calls: collectives."""

from __future__ import annotations

from typing import Any

from firmware.host.mpi.comm import PointToPoint
from firmware.host.mpi.parts import IN_PLACE
from tb.program.mpi import abi
from tb.program.mpi.calls import Address, Buffer, Handle, call
from tb.program.mpi.layout import Place
from tb.program.mpi.rank import Rank


@call("MPI_Barrier")
async def _barrier(rank: Rank, comm: Handle) -> None:
    await rank.comm(comm).Barrier()


@call("MPI_Bcast")
async def _bcast(rank: Rank, buf: Buffer, count: int, datatype: Handle, root: int, comm: Handle) -> None:
    of, place = rank.comm(comm), rank.place(buf, count, datatype)
    if of.rank == root:
        place.read()
    await of.Bcast(place.spec, root)
    if of.rank != root:
        place.write()


def _out(rank: Rank, buf: int, count: int, datatype: int) -> Any:
    """A sending buffer as the layer takes it."""
    return IN_PLACE if buf == abi.IN_PLACE else rank.data(buf, count, datatype).spec


def _into(rank: Rank, buf: int, count: int, datatype: int, keep: bool) -> Place:
    """A receiving buffer, with what is in it where some of that is used."""
    place = rank.place(buf, count, datatype)
    return place.read() if keep else place


def _each(place: Place, count: int) -> list[Any]:
    """A buffer of equal parts as the layer takes it."""
    data, _, datatype = place.spec
    return [data, count, datatype]


@call("MPI_Gather")
async def _gather(
    rank: Rank,
    buf: Buffer,
    count: int,
    datatype: Handle,
    into_buf: Address,
    into_count: int,
    into_datatype: Handle,
    root: int,
    comm: Handle,
) -> None:
    of = rank.comm(comm)
    if of.rank != root:
        await of.Gather(_out(rank, buf, count, datatype), None, root)
        return
    into = _into(rank, into_buf, into_count * of.size, into_datatype, buf == abi.IN_PLACE)
    await of.Gather(_out(rank, buf, count, datatype), _each(into, into_count), root)
    into.write()


@call("MPI_Scatter")
async def _scatter(
    rank: Rank,
    buf: Buffer,
    count: int,
    datatype: Handle,
    into_buf: Address,
    into_count: int,
    into_datatype: Handle,
    root: int,
    comm: Handle,
) -> None:
    of = rank.comm(comm)
    out = _each(rank.data(buf, count * of.size, datatype), count) if of.rank == root else None
    if into_buf == abi.IN_PLACE:
        await of.Scatter(out, IN_PLACE, root)
        return
    into = rank.place(into_buf, into_count, into_datatype)
    await of.Scatter(out, into.spec, root)
    into.write()


@call("MPI_Allgather")
async def _allgather(
    rank: Rank,
    buf: Buffer,
    count: int,
    datatype: Handle,
    into_buf: Address,
    into_count: int,
    into_datatype: Handle,
    comm: Handle,
) -> None:
    of = rank.comm(comm)
    into = _into(rank, into_buf, into_count * of.size, into_datatype, buf == abi.IN_PLACE)
    await of.Allgather(_out(rank, buf, count, datatype), _each(into, into_count))
    into.write()


@call("MPI_Alltoall")
async def _alltoall(
    rank: Rank,
    buf: Buffer,
    count: int,
    datatype: Handle,
    into_buf: Address,
    into_count: int,
    into_datatype: Handle,
    comm: Handle,
) -> None:
    of = rank.comm(comm)
    into = _into(rank, into_buf, into_count * of.size, into_datatype, buf == abi.IN_PLACE)
    if buf == abi.IN_PLACE:
        out = [bytes(into.data), *_each(into, into_count)[1:]]
    else:
        out = _each(rank.data(buf, count * of.size, datatype), count)
    await of.Alltoall(out, _each(into, into_count))
    into.write()


class _Parts:
    """A buffer of parts of any length: counts and places in elements, one a rank."""

    def __init__(
        self, rank: Rank, of: PointToPoint, buf: int, counts: int, places: int, datatype: int, keep: bool
    ) -> None:
        """`keep`: what stands there is read."""
        self.counts, self.places = rank.memory.ints(counts, of.size), rank.memory.ints(places, of.size)
        self._first = min((at for at, count in zip(self.places, self.counts, strict=True) if count), default=0)
        last = max((at + count for at, count in zip(self.places, self.counts, strict=True) if count), default=0)
        extent = rank.types[datatype].extent
        self.place = rank.place(buf + self._first * extent, last - self._first, datatype)
        if keep:
            self.place.read()

    @property
    def spec(self) -> list[Any]:
        """As the layer takes it."""
        data, _, datatype = self.place.spec
        return [data, self.counts, [max(at - self._first, 0) for at in self.places], datatype]

    def write(self) -> None:
        """Put the parts back, and leave what is between them."""
        for at, count in zip(self.places, self.counts, strict=True):
            if count:
                self.place.write_elements(at - self._first, count)


@call("MPI_Gatherv")
async def _gatherv(
    rank: Rank,
    buf: Buffer,
    count: int,
    datatype: Handle,
    into_buf: Address,
    counts: Address,
    places: Address,
    into_datatype: Handle,
    root: int,
    comm: Handle,
) -> None:
    of = rank.comm(comm)
    if of.rank != root:
        await of.Gatherv(_out(rank, buf, count, datatype), None, root)
        return
    into = _Parts(rank, of, into_buf, counts, places, into_datatype, buf == abi.IN_PLACE)
    await of.Gatherv(_out(rank, buf, count, datatype), into.spec, root)
    into.write()


@call("MPI_Scatterv")
async def _scatterv(
    rank: Rank,
    buf: Address,
    counts: Address,
    places: Address,
    datatype: Handle,
    into_buf: Address,
    into_count: int,
    into_datatype: Handle,
    root: int,
    comm: Handle,
) -> None:
    of = rank.comm(comm)
    out = _Parts(rank, of, buf, counts, places, datatype, True).spec if of.rank == root else None
    if into_buf == abi.IN_PLACE:
        await of.Scatterv(out, IN_PLACE, root)
        return
    into = rank.place(into_buf, into_count, into_datatype)
    await of.Scatterv(out, into.spec, root)
    into.write()


@call("MPI_Allgatherv")
async def _allgatherv(
    rank: Rank,
    buf: Buffer,
    count: int,
    datatype: Handle,
    into_buf: Address,
    counts: Address,
    places: Address,
    into_datatype: Handle,
    comm: Handle,
) -> None:
    of = rank.comm(comm)
    into = _Parts(rank, of, into_buf, counts, places, into_datatype, buf == abi.IN_PLACE)
    await of.Allgatherv(_out(rank, buf, count, datatype), into.spec)
    into.write()


@call("MPI_Alltoallv")
async def _alltoallv(
    rank: Rank,
    buf: Address,
    counts: Address,
    places: Address,
    datatype: Handle,
    into_buf: Address,
    into_counts: Address,
    into_places: Address,
    into_datatype: Handle,
    comm: Handle,
) -> None:
    of, in_place = rank.comm(comm), buf == abi.IN_PLACE
    into = _Parts(rank, of, into_buf, into_counts, into_places, into_datatype, in_place)
    if in_place:
        out = [bytes(into.place.data), *into.spec[1:]]
    else:
        out = _Parts(rank, of, buf, counts, places, datatype, True).spec
    await of.Alltoallv(out, into.spec)
    into.write()


@call("MPI_Alltoallw")
async def _alltoallw(
    rank: Rank,
    buf: Address,
    counts: Address,
    places: Address,
    datatypes: Address,
    into_buf: Address,
    into_counts: Address,
    into_places: Address,
    into_datatypes: Address,
    comm: Handle,
) -> None:
    of = rank.comm(comm)
    into = _places(rank, of, into_buf, into_counts, into_places, into_datatypes)
    if buf == abi.IN_PLACE:
        out = [[bytes(one.read().data), *one.spec[1:]] for one in into]
    else:
        out = [one.read().spec for one in _places(rank, of, buf, counts, places, datatypes)]
    await of.Alltoallw(out, [one.spec for one in into])
    for one in into:
        one.write()


def _places(rank: Rank, of: PointToPoint, buf: int, counts: int, places: int, datatypes: int) -> list[Place]:
    """A place a rank; where each begins is in bytes."""
    each = zip(
        rank.memory.ints(counts, of.size),
        rank.memory.ints(places, of.size),
        rank.memory.handles(datatypes, of.size),
        strict=True,
    )
    return [rank.place(buf + at, count, datatype) for count, at, datatype in each]


@call("MPI_Reduce")
async def _reduce(
    rank: Rank, buf: Address, into_buf: Address, count: int, datatype: Handle, op: Handle, root: int, comm: Handle
) -> None:
    of, how = rank.comm(comm), rank.op(op, datatype)
    if of.rank != root:
        await of.Reduce(_out(rank, buf, count, datatype), None, how, root)
        return
    into = _into(rank, into_buf, count, datatype, buf == abi.IN_PLACE)
    await of.Reduce(_out(rank, buf, count, datatype), into.spec, how, root)
    into.write()


@call("MPI_Allreduce", "MPI_Scan", "MPI_Exscan")
async def _allreduce(
    rank: Rank, buf: Address, into_buf: Address, count: int, datatype: Handle, op: Handle, comm: Handle
) -> None:
    of, how = rank.comm(comm), rank.op(op, datatype)
    keep = buf == abi.IN_PLACE or rank.call == "MPI_Exscan"
    into = _into(rank, into_buf, count, datatype, keep)
    await getattr(of, rank.call.removeprefix("MPI_"))(_out(rank, buf, count, datatype), into.spec, how)
    into.write()


@call("MPI_Reduce_scatter_block")
async def _reduce_scatter_block(
    rank: Rank, buf: Address, into_buf: Address, count: int, datatype: Handle, op: Handle, comm: Handle
) -> None:
    size = rank.comm(comm).size
    await _scattered(rank, buf, into_buf, [count] * size, datatype, op, comm)


@call("MPI_Reduce_scatter")
async def _reduce_scatter(
    rank: Rank, buf: Address, into_buf: Address, counts: Address, datatype: Handle, op: Handle, comm: Handle
) -> None:
    size = rank.comm(comm).size
    await _scattered(rank, buf, into_buf, rank.memory.ints(counts, size), datatype, op, comm)


async def _scattered(rank: Rank, buf: int, into_buf: int, counts: list[int], datatype: int, op: int, comm: int) -> None:
    of, how = rank.comm(comm), rank.op(op, datatype)
    source = into_buf if buf == abi.IN_PLACE else buf
    out = rank.data(source, sum(counts), datatype)
    into = rank.place(into_buf, counts[of.rank], datatype)
    await of.Reduce_scatter(out.spec, into.spec, counts, how)
    into.write()
