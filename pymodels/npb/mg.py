"""MG: a periodic cube over a torus of processes, halved level by level, until some processes have no points left.

On every level, processes with points exchange faces with both neighbours of each axis, in an order of axes that carries
edges and corners along; an axis with one process exchanges with itself by messages too. Where the next coarser level
leaves a process without points, its neighbour returns the result to it (one face down, two up). A step is one V cycle
and the residual. There are four adjacent buffers of `nm2` doubles, two for sending and two for receiving, as declared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from pymodels.npb.streams import WORD, Traffic, Transfer, arrays, together

LEVELS = 8
"""Number of levels, for 256 points a side in both classes."""
ITERATIONS = {"A": 4, "B": 20}
AXES = range(3)
DOWN, UP = -1, 1


@dataclass(frozen=True)
class Level:
    """Level as seen by one process."""

    points: tuple[int, int, int]
    """Own points along each axis, with a border of one on both sides; 2 for a process without points."""
    peers: dict[tuple[int, int], int]
    """Neighbour ranks by axis and direction."""
    takes: tuple[bool, ...]
    """True, by axis, if the process has no points on the next coarser level and receives the result."""
    gives: tuple[bool, ...]

    @property
    def dead(self) -> bool:
        """True for a process without points."""
        return 2 in self.points

    def face(self, axis: int, border: bool = False) -> int:
        """Return the bytes of one face: complete along the axes before `axis`, or along all axes with `border`."""
        size = WORD
        for other in AXES:
            if other != axis:
                size *= self.points[other] - (0 if other < axis or border else 2)
        return size


def torus(processes: int) -> tuple[int, int, int]:
    """Return the number of processes along each axis: powers of two as equal as possible, the last axis the longest."""
    log = processes.bit_length() - 1
    x = log // 3
    y = (log - x) // 2
    return 1 << x, 1 << y, processes >> x + y


def levels(processes: int, rank: int) -> dict[int, Level]:
    """Return all levels of one process by number; `LEVELS` is the finest."""
    shape = torus(processes)
    place = (rank % shape[0], rank // shape[0] % shape[1], rank // (shape[0] * shape[1]))
    strides = (1, shape[0], shape[0] * shape[1])
    step = [1, 1, 1]
    found: dict[int, tuple[tuple[int, ...], dict[tuple[int, int], int]]] = {}
    takes: dict[int, list[bool]] = {k: [False] * 3 for k in range(1, LEVELS + 1)}
    gives: dict[int, list[bool]] = {k: [False] * 3 for k in range(1, LEVELS + 1)}
    for k in range(LEVELS, 0, -1):
        points = []
        for axis in AXES:
            mine = _points(place[axis], k, shape[axis])
            its = _points(place[axis] + step[axis], k, shape[axis])
            points.append(mine)
            if 2 in (mine, its):
                step[axis] *= 2
            if k < LEVELS:
                gives[k + 1][axis] = (mine, its) == (3, 2)
                takes[k + 1][axis] = (mine, its) == (2, 3)
        peers = {
            (axis, way): rank + ((place[axis] + way * step[axis]) % shape[axis] - place[axis]) * strides[axis]
            for axis, way in product(AXES, (DOWN, UP))
        }
        found[k] = tuple(points), peers
    return {
        k: Level((points[0], points[1], points[2]), peers, tuple(takes[k]), tuple(gives[k]))
        for k, (points, peers) in found.items()
    }


def _points(place: int, level: int, along: int) -> int:
    """Return the number of points of the process at a position, with borders."""
    side = 1 << level
    return 2 + (place + 1) * side // along - place * side // along


@dataclass(frozen=True)
class Buffers:
    """The four buffers, and the transfers through them."""

    levels: dict[int, Level]
    out: dict[int, int]
    """Address of the send buffer by direction."""
    into: dict[int, int]

    def exchange(self, k: int) -> Iterator[Transfer]:
        """Yield the face exchanges of a level, axis by axis."""
        level = self.levels[k]
        if level.dead:
            return
        for axis in AXES:
            size = level.face(axis)
            into = (Transfer(False, level.peers[axis, way], self.into[way], size) for way in (DOWN, UP))
            out = (Transfer(True, level.peers[axis, way], self.out[way], size) for way in (UP, DOWN))
            yield from together((*into, *out))

    def give_back(self, k: int) -> Iterator[Transfer]:
        """Yield the transfers to processes without points on the next coarser level: two faces up, one down."""
        for axis in AXES:
            yield from together(self._given(self.levels[k], axis))

    def _given(self, level: Level, axis: int) -> Iterator[Transfer]:
        size = level.face(axis, border=True)
        if level.takes[axis]:
            for way in (DOWN, UP):
                yield Transfer(False, level.peers[axis, way], self.into[way], size * (2 if way == DOWN else 1))
        if level.gives[axis]:
            for way in (UP, DOWN):
                yield Transfer(True, level.peers[axis, way], self.out[way], size * (2 if way == UP else 1))


def mg(problem: str, processes: int, rank: int) -> Traffic:
    """Return the traffic of one process of MG."""
    side = 2 + (1 << LEVELS - (processes.bit_length() - 1) // 3)
    room = 2 * side * side * WORD
    at = arrays(buff1=room, buff2=room, buff3=room, buff4=room)
    own = Buffers(
        levels(processes, rank),
        out={DOWN: at["buff1"], UP: at["buff3"]},
        into={DOWN: at["buff2"], UP: at["buff4"]},
    )
    cycle: list[Transfer] = []
    for k in range(LEVELS - 1, 0, -1):
        cycle += own.exchange(k)  # restriction to this level
    cycle += own.exchange(1)  # smoothing of the coarsest
    for k in range(2, LEVELS + 1):
        cycle += [*own.give_back(k), *own.exchange(k), *own.exchange(k)]  # interpolation, residual, smoothing
    residual = [*own.exchange(LEVELS)]
    begin = 2 * residual  # right-hand side, and its first residual
    return Traffic((*begin, *cycle, *residual, *begin), (*cycle, *residual), ITERATIONS[problem])
