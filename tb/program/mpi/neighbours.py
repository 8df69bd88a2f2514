"""Calls: graphs with edges distributed over the ranks, and neighbourhood collectives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from firmware.mpi.host.errors import ErrorClass, Misuse
from tb.program.mpi import abi
from tb.program.mpi.begun import Prepared, collective
from tb.program.mpi.calls import Address, Count, Counts, Handle, NewComm, call
from tb.program.mpi.layout import Place
from tb.program.mpi.rank import Communicator, Rank
from tb.program.mpi.topologies import Distributed, Graph, Grid

METHOD = "Neighbor_alltoallw"
"""Method of the layer that implements all neighbourhood collectives."""


def _weights(rank: Rank, at: int, count: int) -> list[int] | None:
    if at == abi.UNWEIGHTED:
        return None
    return rank.memory.ints(at, 0 if at == abi.WEIGHTS_EMPTY else count)


async def _keep(rank: Rank, of: Communicator, graph: Distributed, new: int) -> None:
    size = of.comm.size
    if any(not 0 <= one < size for one in (*graph.sources, *graph.targets)):
        cause = f"neighbours {graph.sources} and {graph.targets} of {size} ranks"
        raise Misuse(ErrorClass.ARG, cause, f"give 0..{size - 1}")
    handle = rank.keep(await of.comm.Dup(), of)
    rank.comms[handle].topology = graph
    rank.memory.put_ints(new, handle)


@call("MPI_Dist_graph_create_adjacent")
async def _create_adjacent(
    rank: Rank,
    comm: Handle,
    degree_in: int,
    sources: Address,
    weights_in: Address,
    degree_out: int,
    targets: Address,
    weights_out: Address,
    info: Handle,
    reorder: int,
    new: NewComm,
) -> None:
    rank.intracomm(comm)
    graph = Distributed(
        rank.memory.ints(sources, degree_in),
        rank.memory.ints(targets, degree_out),
        _weights(rank, weights_in, degree_in),
        _weights(rank, weights_out, degree_out),
    )
    await _keep(rank, rank.comms[comm], graph, new)


@call("MPI_Dist_graph_create")
async def _create(
    rank: Rank,
    comm: Handle,
    count: int,
    sources: Address,
    degrees: Address,
    targets: Address,
    weights: Address,
    info: Handle,
    reorder: int,
    new: NewComm,
) -> None:
    of = rank.intracomm(comm)
    each = rank.memory.ints(degrees, count)
    if min(each, default=0) < 0:  # before they say how many targets to read
        raise Misuse(ErrorClass.ARG, f"degrees {each}", "give degrees of 0 or more")
    starts = [one for one, degree in zip(rank.memory.ints(sources, count), each, strict=True) for _ in range(degree)]
    ends, given = rank.memory.ints(targets, len(starts)), _weights(rank, weights, len(starts))
    edges = [edge for some in await of.allgather((starts, ends, given)) for edge in _edges(*some)]
    into, out = ([edge for edge in edges if edge[end] == of.rank] for end in (1, 0))
    weighted = given is not None
    graph = Distributed(
        [edge[0] for edge in into],
        [edge[1] for edge in out],
        [edge[2] for edge in into] if weighted else None,
        [edge[2] for edge in out] if weighted else None,
    )
    await _keep(rank, rank.comms[comm], graph, new)


def _edges(starts: Sequence[int], ends: Sequence[int], weights: Sequence[int] | None) -> list[tuple[int, int, int]]:
    return list(zip(starts, ends, weights or [1] * len(starts), strict=True))


def _distributed(rank: Rank, comm: int) -> Distributed:
    found = rank.communicator(comm).topology
    if not isinstance(found, Distributed):
        cause = "the communicator has no distributed graph"
        raise Misuse(ErrorClass.TOPOLOGY, cause, "make it by MPI_Dist_graph_create")
    return found


@call("MPI_Dist_graph_neighbors_count")
async def _count(rank: Rank, comm: Handle, degree_in: Address, degree_out: Address, weighted: Address) -> None:
    graph = _distributed(rank, comm)
    rank.memory.put_ints(degree_in, len(graph.sources))
    rank.memory.put_ints(degree_out, len(graph.targets))
    rank.memory.put_ints(weighted, int(graph.weights_in is not None))


@call("MPI_Dist_graph_neighbors")
async def _neighbours(
    rank: Rank,
    comm: Handle,
    most_in: int,
    sources: Address,
    weights_in: Address,
    most_out: int,
    targets: Address,
    weights_out: Address,
) -> None:
    graph = _distributed(rank, comm)
    for most, at, ranks, where, weights in (
        (most_in, sources, graph.sources, weights_in, graph.weights_in),
        (most_out, targets, graph.targets, weights_out, graph.weights_out),
    ):
        rank.memory.put_ints(at, *ranks[:most])
        if weights is not None and where not in (abi.UNWEIGHTED, abi.WEIGHTS_EMPTY):
            rank.memory.put_ints(where, *weights[:most])


class _Around:
    """Neighbours of a rank in the topology of a communicator."""

    def __init__(self, rank: Rank, comm: int) -> None:
        of = rank.communicator(comm)
        topology = of.topology
        self.rank, self.of = rank, rank.intracomm(comm)
        self.backwards = isinstance(topology, Grid)
        """True to post receives from the last neighbour on. Where two neighbours in a grid are one rank, data sent down
        then arrive from above.
        """
        self.sources: Sequence[int]
        self.targets: Sequence[int]
        if isinstance(topology, Grid):
            axes = range(len(topology.sizes))
            self.sources = [topology.beside(self.of.rank, axis, step) for axis in axes for step in (-1, 1)]
            self.targets = self.sources
        elif isinstance(topology, Graph):
            self.sources = self.targets = topology.neighbours(self.of.rank)
        elif isinstance(topology, Distributed):
            self.sources, self.targets = topology.sources, topology.targets
        else:
            raise Misuse(ErrorClass.TOPOLOGY, f"{self.of.name} has no topology", "make one by MPI_Cart_create")

    def prepared(self, out: Sequence[Place], into: Sequence[Place]) -> Prepared:
        """Return the exchange of a place with each neighbour."""
        sends = [(to, place.read().spec) for to, place in zip(self.targets, out, strict=True)]
        receives: list[tuple[int, Any]] = [(at, one.spec) for at, one in zip(self.sources, into, strict=True)]
        used = [one for at, one in zip(self.sources, into, strict=True) if at >= 0]

        def write() -> None:
            for one in used:
                one.write()

        return Prepared(self.of, (sends, receives[::-1] if self.backwards else receives), write)

    def equal(self, buf: int, count: int, datatype: int, ranks: Sequence[int], step: int = 1) -> list[Place]:
        """Return consecutive places of `count` elements; with a `step` of 0, the same place for all neighbours."""
        size = count * self.rank.types[datatype].extent * step
        return [self.rank.place(buf + at * size, count, datatype) for at in range(len(ranks))]

    def parts(self, buf: int, counts: int, places: int, datatype: int, ranks: Sequence[int]) -> list[Place]:
        """Return places of any length at displacements in elements."""
        extent, number = self.rank.types[datatype].extent, len(ranks)
        each = zip(self.rank.counts(counts, number), self.rank.counts(places, number), strict=True)
        return [self.rank.place(buf + at * extent, count, datatype) for count, at in each]

    def any(self, buf: int, counts: int, places: int, datatypes: int, ranks: Sequence[int]) -> list[Place]:
        """Return places of any length and datatype at displacements in bytes."""
        memory, number = self.rank.memory, len(ranks)
        each = zip(
            self.rank.counts(counts, number),
            memory.longs(places, number),
            memory.handles(datatypes, number),
            strict=True,
        )
        return [self.rank.place(buf + at, count, datatype) for count, at, datatype in each]


@collective("Neighbor_allgather", method=METHOD)
def _allgather(
    rank: Rank,
    buf: Address,
    count: Count,
    datatype: Handle,
    into_buf: Address,
    into_count: Count,
    into_datatype: Handle,
    comm: Handle,
) -> Prepared:
    around = _Around(rank, comm)
    out = around.equal(buf, count, datatype, around.targets, 0)
    return around.prepared(out, around.equal(into_buf, into_count, into_datatype, around.sources))


@collective("Neighbor_allgatherv", method=METHOD)
def _allgatherv(
    rank: Rank,
    buf: Address,
    count: Count,
    datatype: Handle,
    into_buf: Address,
    counts: Counts,
    places: Counts,
    into_datatype: Handle,
    comm: Handle,
) -> Prepared:
    around = _Around(rank, comm)
    out = around.equal(buf, count, datatype, around.targets, 0)
    return around.prepared(out, around.parts(into_buf, counts, places, into_datatype, around.sources))


@collective("Neighbor_alltoall", method=METHOD)
def _alltoall(
    rank: Rank,
    buf: Address,
    count: Count,
    datatype: Handle,
    into_buf: Address,
    into_count: Count,
    into_datatype: Handle,
    comm: Handle,
) -> Prepared:
    around = _Around(rank, comm)
    out = around.equal(buf, count, datatype, around.targets)
    return around.prepared(out, around.equal(into_buf, into_count, into_datatype, around.sources))


@collective("Neighbor_alltoallv", method=METHOD)
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
    around = _Around(rank, comm)
    out = around.parts(buf, counts, places, datatype, around.targets)
    return around.prepared(out, around.parts(into_buf, into_counts, into_places, into_datatype, around.sources))


@collective("Neighbor_alltoallw", method=METHOD)
def _alltoallw(
    rank: Rank,
    buf: Address,
    counts: Counts,
    places: Address,
    datatypes: Address,
    into_buf: Address,
    into_counts: Counts,
    into_places: Address,
    into_datatypes: Address,
    comm: Handle,
) -> Prepared:
    around = _Around(rank, comm)
    out = around.any(buf, counts, places, datatypes, around.targets)
    return around.prepared(out, around.any(into_buf, into_counts, into_places, into_datatypes, around.sources))
