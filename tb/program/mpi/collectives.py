"""Calls: collectives, each with its non-blocking form."""

from __future__ import annotations

from typing import Any

from firmware.mpi.host.comm import PointToPoint
from firmware.mpi.host.errors import ErrorClass, Misuse
from firmware.mpi.host.intercomm import Intercomm
from firmware.mpi.host.parts import IN_PLACE
from firmware.mpi.host.status import ROOT
from tb.program.mpi import abi
from tb.program.mpi.begun import Prepared, collective
from tb.program.mpi.calls import Address, Buffer, Count, Counts, Handle
from tb.program.mpi.layout import Place
from tb.program.mpi.rank import AnyComm, Rank


def _at_root(of: AnyComm, root: int) -> bool:
    """Return True at the root of a collective."""
    return root == ROOT if isinstance(of, Intercomm) else of.rank == root


def _beside(of: AnyComm, root: int) -> bool:
    """Return True for a rank whose group has the root, in the other group of which the other ranks are."""
    return isinstance(of, Intercomm) and root < 0


def check_apart(buf: int, into_buf: int, count: int, equal: bool = True, own: int = 0) -> None:
    """Raise Misuse if the sending and the receiving buffer are the same, which needs MPI_IN_PLACE.

    Buffers at one address are accepted if counts or datatypes differ, since datatypes may have gaps.

    Args:
        buf: Address of the sending buffer, or of the buffer without parts.
        into_buf: Address of the other buffer.
        count: Number of elements; 0: the buffers are not used.
        equal: True if counts and datatypes are equal.
        own: Address of the own part of `into_buf`, if that has parts.
    """
    if count and equal and buf in (into_buf, own or into_buf):
        raise Misuse(ErrorClass.BUFFER, "both buffers are the same", "give MPI_IN_PLACE for the sending buffer")


def _own(rank: Rank, of: AnyComm, buf: int, count: int, datatype: int, places: int = 0) -> int:
    """Return the address of the own part of a buffer that has `count` elements a rank, or displacements at `places`."""
    if isinstance(of, Intercomm):
        return buf
    at = rank.counts(places, of.size)[of.rank] if places else of.rank * count
    return buf + at * rank.types[datatype].shape.extent


@collective("Barrier")
def _barrier(rank: Rank, comm: Handle) -> Prepared:
    return Prepared(rank.comm(comm), ())


@collective("Bcast")
def _bcast(rank: Rank, buf: Buffer, count: Count, datatype: Handle, root: int, comm: Handle) -> Prepared:
    of = rank.comm(comm)
    if _beside(of, root) and not _at_root(of, root):
        return Prepared(of, (None, root))
    place = rank.place(buf, count, datatype)
    if _at_root(of, root):
        return Prepared(of, (place.read().spec, root))
    return Prepared(of, (place.spec, root), place.write)


def _out(rank: Rank, buf: int, count: int, datatype: int) -> Any:
    """Return a sending buffer in the form of the layer."""
    return IN_PLACE if buf == abi.IN_PLACE else rank.data(buf, count, datatype).spec


def _into(rank: Rank, buf: int, count: int, datatype: int, keep: bool) -> Place:
    """Return a receiving buffer; `keep` also reads its present content."""
    place = rank.place(buf, count, datatype)
    return place.read() if keep else place


def _each(place: Place, count: int) -> list[Any]:
    """Return a buffer of equal parts in the form of the layer."""
    data, _, datatype = place.spec
    return [data, count, datatype]


@collective("Gather")
def _gather(
    rank: Rank,
    buf: Buffer,
    count: Count,
    datatype: Handle,
    into_buf: Address,
    into_count: Count,
    into_datatype: Handle,
    root: int,
    comm: Handle,
) -> Prepared:
    of = rank.comm(comm)
    out = None if _beside(of, root) else _out(rank, buf, count, datatype)
    if not _at_root(of, root):
        return Prepared(of, (out, None, root))
    own = _own(rank, of, into_buf, into_count, into_datatype)
    check_apart(buf, into_buf, count, (count, datatype) == (into_count, into_datatype), own)
    into = _into(rank, into_buf, into_count * of.remote_size, into_datatype, buf == abi.IN_PLACE)
    return Prepared(of, (out, _each(into, into_count), root), into.write)


@collective("Scatter")
def _scatter(
    rank: Rank,
    buf: Buffer,
    count: Count,
    datatype: Handle,
    into_buf: Address,
    into_count: Count,
    into_datatype: Handle,
    root: int,
    comm: Handle,
) -> Prepared:
    of, out = rank.comm(comm), None
    if _at_root(of, root):
        out = _each(rank.data(buf, count * of.remote_size, datatype), count)
    if into_buf == abi.IN_PLACE or _beside(of, root):
        return Prepared(of, (out, IN_PLACE, root))
    if out is not None:
        own = _own(rank, of, buf, count, datatype)
        check_apart(into_buf, buf, count, (count, datatype) == (into_count, into_datatype), own)
    into = rank.place(into_buf, into_count, into_datatype)
    return Prepared(of, (out, into.spec, root), into.write)


@collective("Allgather")
def _allgather(
    rank: Rank,
    buf: Buffer,
    count: Count,
    datatype: Handle,
    into_buf: Address,
    into_count: Count,
    into_datatype: Handle,
    comm: Handle,
) -> Prepared:
    of = rank.comm(comm)
    own = _own(rank, of, into_buf, into_count, into_datatype)
    check_apart(buf, into_buf, count, (count, datatype) == (into_count, into_datatype), own)
    into = _into(rank, into_buf, into_count * of.remote_size, into_datatype, buf == abi.IN_PLACE)
    return Prepared(of, (_out(rank, buf, count, datatype), _each(into, into_count)), into.write)


@collective("Alltoall")
def _alltoall(
    rank: Rank,
    buf: Buffer,
    count: Count,
    datatype: Handle,
    into_buf: Address,
    into_count: Count,
    into_datatype: Handle,
    comm: Handle,
) -> Prepared:
    of = rank.comm(comm)
    check_apart(buf, into_buf, count, (count, datatype) == (into_count, into_datatype))
    into = _into(rank, into_buf, into_count * of.remote_size, into_datatype, buf == abi.IN_PLACE)
    if buf == abi.IN_PLACE:
        out = [bytes(into.data), *_each(into, into_count)[1:]]
    else:
        out = _each(rank.data(buf, count * of.remote_size, datatype), count)
    return Prepared(of, (out, _each(into, into_count)), into.write)


class _Parts:
    """Buffer of parts with a count and a displacement (in extents of the datatype) for each rank."""

    def __init__(
        self, rank: Rank, of: PointToPoint, buf: int, counts: int, places: int, datatype: int, keep: bool
    ) -> None:
        """`keep`: read the parts from the program's memory."""
        self.counts = rank.counts(counts, of.remote_size)
        extent = rank.types[datatype].shape.extent
        starts = [buf + at * extent for at in rank.counts(places, of.remote_size)]
        self._parts = [rank.place(at, count, datatype) for at, count in zip(starts, self.counts, strict=True)]
        if keep:
            for part in self._parts:
                part.read()
        self._layer = rank.types[datatype].layer
        self.data = bytearray().join(part.data for part in self._parts)

    @property
    def spec(self) -> list[Any]:
        """Buffer in the form of the layer, with contiguous parts."""
        return [self.data, self.counts, self._layer]

    def write(self) -> None:
        """Write the parts to the program's memory."""
        data = memoryview(self.data)
        for part in self._parts:
            part.data[:] = data[: part.size]
            part.write()
            data = data[part.size :]


@collective("Gatherv")
def _gatherv(
    rank: Rank,
    buf: Buffer,
    count: Count,
    datatype: Handle,
    into_buf: Address,
    counts: Counts,
    places: Counts,
    into_datatype: Handle,
    root: int,
    comm: Handle,
) -> Prepared:
    of = rank.comm(comm)
    out = None if _beside(of, root) else _out(rank, buf, count, datatype)
    if not _at_root(of, root):
        return Prepared(of, (out, None, root))
    own = _own(rank, of, into_buf, 0, into_datatype, places)
    check_apart(buf, into_buf, count, datatype == into_datatype, own)
    into = _Parts(rank, of, into_buf, counts, places, into_datatype, buf == abi.IN_PLACE)
    return Prepared(of, (out, into.spec, root), into.write)


@collective("Scatterv")
def _scatterv(
    rank: Rank,
    buf: Address,
    counts: Counts,
    places: Counts,
    datatype: Handle,
    into_buf: Address,
    into_count: Count,
    into_datatype: Handle,
    root: int,
    comm: Handle,
) -> Prepared:
    of = rank.comm(comm)
    out = _Parts(rank, of, buf, counts, places, datatype, True).spec if _at_root(of, root) else None
    if into_buf == abi.IN_PLACE or _beside(of, root):
        return Prepared(of, (out, IN_PLACE, root))
    if out is not None:
        own = _own(rank, of, buf, 0, datatype, places)
        check_apart(into_buf, buf, into_count, datatype == into_datatype, own)
    into = rank.place(into_buf, into_count, into_datatype)
    return Prepared(of, (out, into.spec, root), into.write)


@collective("Allgatherv")
def _allgatherv(
    rank: Rank,
    buf: Buffer,
    count: Count,
    datatype: Handle,
    into_buf: Address,
    counts: Counts,
    places: Counts,
    into_datatype: Handle,
    comm: Handle,
) -> Prepared:
    of = rank.comm(comm)
    own = _own(rank, of, into_buf, 0, into_datatype, places)
    check_apart(buf, into_buf, count, datatype == into_datatype, own)
    into = _Parts(rank, of, into_buf, counts, places, into_datatype, buf == abi.IN_PLACE)
    return Prepared(of, (_out(rank, buf, count, datatype), into.spec), into.write)


@collective("Alltoallv")
def _alltoallv(
    rank: Rank,
    buf: Address,
    counts: Counts,
    places: Counts,
    datatype: Handle,
    into_buf: Address,
    into_counts: Counts,
    into_places: Counts,
    into_datatype: Handle,
    comm: Handle,
) -> Prepared:
    of, in_place = rank.comm(comm), buf == abi.IN_PLACE
    into = _Parts(rank, of, into_buf, into_counts, into_places, into_datatype, in_place)
    check_apart(buf, into_buf, sum(into.counts), (counts, datatype) == (into_counts, into_datatype))
    parts = into if in_place else _Parts(rank, of, buf, counts, places, datatype, True)
    return Prepared(of, ([bytes(parts.data), *parts.spec[1:]], into.spec), into.write)


@collective("Alltoallw")
def _alltoallw(
    rank: Rank,
    buf: Address,
    counts: Counts,
    places: Counts,
    datatypes: Address,
    into_buf: Address,
    into_counts: Counts,
    into_places: Counts,
    into_datatypes: Address,
    comm: Handle,
) -> Prepared:
    of = rank.comm(comm)
    into = _places(rank, of, into_buf, into_counts, into_places, into_datatypes)
    check_apart(buf, into_buf, sum(one.count for one in into), (counts, datatypes) == (into_counts, into_datatypes))
    if buf == abi.IN_PLACE:
        out = [[bytes(one.read().data), *one.spec[1:]] for one in into]
    else:
        out = [one.read().spec for one in _places(rank, of, buf, counts, places, datatypes)]

    def write() -> None:
        for one in into:
            one.write()

    return Prepared(of, (out, [one.spec for one in into]), write)


def _places(rank: Rank, of: PointToPoint, buf: int, counts: int, places: int, datatypes: int) -> list[Place]:
    """Return a place for each rank, with displacements in bytes."""
    each = zip(
        rank.counts(counts, of.remote_size),
        rank.counts(places, of.remote_size),
        rank.memory.handles(datatypes, of.remote_size),
        strict=True,
    )
    return [rank.place(buf + at, count, datatype) for count, at, datatype in each]


@collective("Reduce")
def _reduce(
    rank: Rank, buf: Address, into_buf: Address, count: Count, datatype: Handle, op: Handle, root: int, comm: Handle
) -> Prepared:
    of, how = rank.comm(comm), rank.op(op, datatype)
    out = None if _beside(of, root) else _out(rank, buf, count, datatype)
    if not _at_root(of, root):
        return Prepared(of, (out, None, how, root))
    check_apart(buf, into_buf, count)
    into = _into(rank, into_buf, count, datatype, buf == abi.IN_PLACE)
    return Prepared(of, (out, into.spec, how, root), into.write)


@collective("Allreduce", "Scan")
def _allreduce(
    rank: Rank, buf: Address, into_buf: Address, count: Count, datatype: Handle, op: Handle, comm: Handle
) -> Prepared:
    return _folded(rank, buf, into_buf, count, datatype, op, comm, keep=buf == abi.IN_PLACE)


@collective("Exscan")
def _exscan(
    rank: Rank, buf: Address, into_buf: Address, count: Count, datatype: Handle, op: Handle, comm: Handle
) -> Prepared:
    return _folded(rank, buf, into_buf, count, datatype, op, comm, keep=True)


def _folded(rank: Rank, buf: int, into_buf: int, count: int, datatype: int, op: int, comm: int, keep: bool) -> Prepared:
    of, how = rank.comm(comm), rank.op(op, datatype)
    check_apart(buf, into_buf, count)
    into = _into(rank, into_buf, count, datatype, keep)
    return Prepared(of, (_out(rank, buf, count, datatype), into.spec, how), into.write)


@collective("Reduce_scatter_block")
def _reduce_scatter_block(
    rank: Rank, buf: Address, into_buf: Address, count: Count, datatype: Handle, op: Handle, comm: Handle
) -> Prepared:
    of, how = rank.comm(comm), rank.op(op, datatype)
    check_apart(buf, into_buf, count)
    source = into_buf if buf == abi.IN_PLACE else buf
    out, into = rank.data(source, count * of.size, datatype), rank.place(into_buf, count, datatype)
    data, _, layer = out.spec  # the layer expects the count of one part
    return Prepared(of, ([data, layer], into.spec, how), into.write)


@collective("Reduce_scatter")
def _reduce_scatter(
    rank: Rank, buf: Address, into_buf: Address, counts: Counts, datatype: Handle, op: Handle, comm: Handle
) -> Prepared:
    of, how = rank.comm(comm), rank.op(op, datatype)
    each = rank.counts(counts, of.size)
    check_apart(buf, into_buf, sum(each))
    source = into_buf if buf == abi.IN_PLACE else buf
    out, into = rank.data(source, sum(each), datatype), rank.place(into_buf, each[of.rank], datatype)
    return Prepared(of, (out.spec, into.spec, each, how), into.write)
