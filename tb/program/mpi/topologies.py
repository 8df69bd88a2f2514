"""Calls: grids and graphs of communicators. Ranks keep their order for any value of `reorder`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import isqrt, prod

from firmware.mpi.host.errors import ErrorClass, Misuse
from firmware.mpi.host.status import PROC_NULL, UNDEFINED
from tb.program.mpi import abi
from tb.program.mpi.calls import Address, Handle, NewComm, call
from tb.program.mpi.rank import Communicator, Rank


@dataclass(frozen=True)
class Grid:
    """A Cartesian topology; the last dimension changes fastest."""

    sizes: Sequence[int]
    periods: Sequence[bool]

    def coords(self, number: int) -> list[int]:
        """Return the coordinates of a rank."""
        found = []
        for size in reversed(self.sizes):
            number, at = divmod(number, size)
            found.append(at)
        return found[::-1]

    def number(self, coords: Sequence[int]) -> int:
        """Return the rank at coordinates, which wrap around in periodic dimensions. Raises Misuse."""
        found = 0
        for size, periodic, at in zip(self.sizes, self.periods, coords, strict=True):
            if not (periodic or 0 <= at < size):
                raise Misuse(ErrorClass.ARG, f"coordinate {at} of a dimension of {size}", "stay within the grid")
            found = found * size + at % size
        return found

    def beside(self, number: int, dimension: int, by: int) -> int:
        """Return the rank at a distance along a dimension, or MPI_PROC_NULL beyond an end."""
        coords = self.coords(number)
        coords[dimension] += by
        inside = self.periods[dimension] or 0 <= coords[dimension] < self.sizes[dimension]
        return self.number(coords) if inside else PROC_NULL


@dataclass(frozen=True)
class Graph:
    """Graph in the form of the standard: `edges` are the neighbours of all nodes, `index` the end of each
    node's edges.
    """

    index: Sequence[int]
    edges: Sequence[int]

    def neighbours(self, number: int) -> Sequence[int]:
        """Return the neighbours of a rank. Raises Misuse."""
        if not 0 <= number < len(self.index):
            raise Misuse(ErrorClass.RANK, f"rank {number} of a graph of {len(self.index)}", "give a node of the graph")
        return self.edges[self.index[number - 1] if number else 0 : self.index[number]]


@dataclass(frozen=True)
class Distributed:
    """Graph of which each rank has only its own edges, with optional weights."""

    sources: Sequence[int]
    targets: Sequence[int]
    weights_in: Sequence[int] | None
    weights_out: Sequence[int] | None


def _grid(rank: Rank, comm: int) -> tuple[Communicator, Grid]:
    found = rank.communicator(comm)
    if not isinstance(found.topology, Grid):
        raise Misuse(ErrorClass.TOPOLOGY, "the communicator has no Cartesian topology", "make it by MPI_Cart_create")
    return found, found.topology


def _graph(rank: Rank, comm: int) -> Graph:
    found = rank.communicator(comm).topology
    if not isinstance(found, Graph):
        raise Misuse(ErrorClass.TOPOLOGY, "the communicator has no graph", "make it by MPI_Graph_create")
    return found


async def _of_first(rank: Rank, comm: int, count: int, topology: Grid | Graph, new: int) -> None:
    """Create a communicator of the first `count` ranks with a topology."""
    of = rank.communicator(comm)
    _check_places(rank, comm, count)
    handle = rank.keep(await of.comm.Split(0 if of.comm.rank < count else UNDEFINED, of.comm.rank), of)
    if handle != abi.COMM_NULL:
        rank.comms[handle].topology = topology
    rank.memory.put_ints(new, handle)


def _check_places(rank: Rank, comm: int, count: int) -> None:
    """Raise Misuse if a topology has more places than a communicator has ranks."""
    ranks = rank.communicator(comm).comm.size
    if count > ranks:
        cause = f"the topology has {count} places, the communicator {ranks} ranks"
        raise Misuse(ErrorClass.TOPOLOGY, cause, "give a smaller topology")


def _read_grid(rank: Rank, dims: int, sizes: Address, periods: Address) -> Grid:
    found = Grid(rank.memory.ints(sizes, dims), [bool(one) for one in rank.memory.ints(periods, dims)])
    if any(size < 1 for size in found.sizes):
        raise Misuse(ErrorClass.DIMS, f"dimensions of {found.sizes}", "give sizes of 1 or more")
    return found


@call("MPI_Topo_test")
async def _topo_test(rank: Rank, comm: Handle, status: Address) -> None:
    kinds = {Graph: abi.GRAPH, Grid: abi.CART, Distributed: abi.DIST_GRAPH}
    rank.memory.put_ints(status, kinds.get(type(rank.communicator(comm).topology), UNDEFINED))


@call("MPI_Dims_create")
async def _dims_create(rank: Rank, nodes: int, dims: int, sizes: Address) -> None:
    given = rank.memory.ints(sizes, dims)
    fixed = prod(one for one in given if one)
    if any(one < 0 for one in given) or nodes < 1 or nodes % fixed:
        cause = f"{nodes} nodes in dimensions of {given} (0: any size)"
        raise Misuse(ErrorClass.DIMS, cause, "give dimensions whose product divides the number of nodes")
    if 0 not in given and fixed != nodes:
        raise Misuse(ErrorClass.DIMS, f"dimensions {given} do not make {nodes} nodes", "set one dimension to 0")
    chosen = iter(balanced(nodes // fixed, given.count(0)))
    rank.memory.put_ints(sizes, *(one or next(chosen) for one in given))


def balanced(nodes: int, dims: int) -> list[int]:
    """Return `dims` factors of a number, largest first.

    The difference between the largest and the smallest factor is minimal. Of several such choices, the one with the
    largest smallest factors is returned, as in MPICH.
    """
    if not dims:
        return []
    best: tuple[int, ...] = min(_factors(nodes, dims, nodes), key=_imbalance)
    return list(best)


def _imbalance(sizes: Sequence[int]) -> tuple[int, list[int]]:
    return sizes[0] - sizes[-1], [-size for size in reversed(sizes)]


def _factors(nodes: int, dims: int, most: int) -> Iterator[tuple[int, ...]]:
    """Yield all choices of `dims` factors of a number, each at most `most`, in falling order."""
    if dims == 1:
        if nodes <= most:
            yield (nodes,)
        return
    for size in _divisors(nodes):
        if size <= most and size**dims >= nodes:
            for rest in _factors(nodes // size, dims - 1, size):
                yield (size, *rest)


@cache
def _divisors(number: int) -> list[int]:
    low = [one for one in range(1, isqrt(number) + 1) if number % one == 0]
    return sorted({*low, *(number // one for one in low)})


@call("MPI_Cart_create")
async def _cart_create(
    rank: Rank, comm: Handle, dims: int, sizes: Address, periods: Address, reorder: int, new: NewComm
) -> None:
    grid = _read_grid(rank, dims, sizes, periods)
    await _of_first(rank, comm, prod(grid.sizes), grid, new)


@call("MPI_Cartdim_get")
async def _cart_dim(rank: Rank, comm: Handle, dims: Address) -> None:
    rank.memory.put_ints(dims, len(_grid(rank, comm)[1].sizes))


@call("MPI_Cart_get")
async def _cart_get(rank: Rank, comm: Handle, most: int, sizes: Address, periods: Address, coords: Address) -> None:
    of, grid = _grid(rank, comm)
    rank.memory.put_ints(sizes, *grid.sizes[:most])
    rank.memory.put_ints(periods, *(int(one) for one in grid.periods[:most]))
    rank.memory.put_ints(coords, *grid.coords(of.comm.rank)[:most])


@call("MPI_Cart_rank")
async def _cart_rank(rank: Rank, comm: Handle, coords: Address, number: Address) -> None:
    _, grid = _grid(rank, comm)
    rank.memory.put_ints(number, grid.number(rank.memory.ints(coords, len(grid.sizes))))


@call("MPI_Cart_coords")
async def _cart_coords(rank: Rank, comm: Handle, number: int, most: int, coords: Address) -> None:
    of, grid = _grid(rank, comm)
    if not 0 <= number < of.comm.size:
        raise Misuse(ErrorClass.RANK, f"rank {number} of {of.comm.size}", "give a rank of the grid")
    rank.memory.put_ints(coords, *grid.coords(number)[:most])


@call("MPI_Cart_shift")
async def _cart_shift(rank: Rank, comm: Handle, dimension: int, by: int, source: Address, target: Address) -> None:
    of, grid = _grid(rank, comm)
    if not 0 <= dimension < len(grid.sizes):
        raise Misuse(ErrorClass.DIMS, f"dimension {dimension} of {len(grid.sizes)}", "give an existing dimension")
    for where, step in ((source, -by), (target, by)):
        rank.memory.put_ints(where, grid.beside(of.comm.rank, dimension, step))


@call("MPI_Cart_sub")
async def _cart_sub(rank: Rank, comm: Handle, kept: Address, new: NewComm) -> None:
    of, grid = _grid(rank, comm)
    keep = rank.memory.ints(kept, len(grid.sizes))
    dropped = Grid([1 if stays else size for size, stays in zip(grid.sizes, keep, strict=True)], [True] * len(keep))
    color = dropped.number(grid.coords(of.comm.rank))
    handle = rank.keep(await of.comm.Split(color, of.comm.rank), of)
    left = [one for one in zip(grid.sizes, grid.periods, keep, strict=True) if one[2]]
    rank.comms[handle].topology = Grid([size for size, _, _ in left], [periodic for _, periodic, _ in left])
    rank.memory.put_ints(new, handle)


@call("MPI_Cart_map")
async def _cart_map(rank: Rank, comm: Handle, dims: int, sizes: Address, periods: Address, number: Address) -> None:
    _map(rank, comm, prod(_read_grid(rank, dims, sizes, periods).sizes), number)


@call("MPI_Graph_map")
async def _graph_map(rank: Rank, comm: Handle, nodes: int, index: Address, edges: Address, number: Address) -> None:
    _map(rank, comm, nodes, number)


def _map(rank: Rank, comm: int, count: int, number: Address) -> None:
    own = rank.comm(comm).rank
    rank.memory.put_ints(number, own if own < count else UNDEFINED)


@call("MPI_Graph_create")
async def _graph_create(
    rank: Rank, comm: Handle, nodes: int, index: Address, edges: Address, reorder: int, new: NewComm
) -> None:
    _check_places(rank, comm, nodes)
    ends = rank.memory.ints(index, nodes)
    if sorted(ends) != ends or min(ends, default=0) < 0:  # before they say how many edges to read
        raise Misuse(ErrorClass.TOPOLOGY, f"index {ends}", "give non-decreasing ends of 0 or more")
    graph = Graph(ends, rank.memory.ints(edges, ends[-1] if ends else 0))
    if any(not 0 <= one < nodes for one in graph.edges):
        cause = f"edges {list(graph.edges)} of {nodes} nodes"
        raise Misuse(ErrorClass.TOPOLOGY, cause, "give existing neighbours")
    await _of_first(rank, comm, nodes, graph, new)


@call("MPI_Graphdims_get")
async def _graph_dims(rank: Rank, comm: Handle, nodes: Address, edges: Address) -> None:
    graph = _graph(rank, comm)
    rank.memory.put_ints(nodes, len(graph.index))
    rank.memory.put_ints(edges, len(graph.edges))


@call("MPI_Graph_get")
async def _graph_get(rank: Rank, comm: Handle, most: int, most_edges: int, index: Address, edges: Address) -> None:
    graph = _graph(rank, comm)
    rank.memory.put_ints(index, *graph.index[:most])
    rank.memory.put_ints(edges, *graph.edges[:most_edges])


@call("MPI_Graph_neighbors_count")
async def _neighbours_count(rank: Rank, comm: Handle, number: int, count: Address) -> None:
    rank.memory.put_ints(count, len(_graph(rank, comm).neighbours(number)))


@call("MPI_Graph_neighbors")
async def _neighbours(rank: Rank, comm: Handle, number: int, most: int, found: Address) -> None:
    rank.memory.put_ints(found, *_graph(rank, comm).neighbours(number)[:most])
