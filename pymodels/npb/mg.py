"""MG: a periodic cube over a torus of processes, halved level by level, until some processes have no points left.

On every level, whoever has points exchanges faces with both neighbours of each axis, in an order of axes that carries
edges and corners along; an axis with one process exchanges with itself, by messages too. Where the next coarser level
leaves a process without points, its neighbour gives it the result back (one face down, two up). A step is one V cycle
and the residual. Buffers: four of `nm2` doubles side by side, two to send from and two to receive into, as declared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from pymodels.npb.streams import WORD, Traffic, Transfer, arrays, together

LEVELS = 8
"""256 points a side in both classes."""
ITERATIONS = {"A": 4, "B": 20}
AXES = range(3)
DOWN, UP = -1, 1


@dataclass(frozen=True)
class Level:
    """One level as one process sees it."""

    points: tuple[int, int, int]
    """Its own points, with a border of one on both sides; 2: it has none."""
    peers: dict[tuple[int, int], int]
    """By axis and direction."""
    takes: tuple[bool, ...]
    """By axis: it has no points on the next coarser level, and is given what it needs."""
    gives: tuple[bool, ...]

    @property
    def dead(self) -> bool:
        """Without points."""
        return 2 in self.points

    def face(self, axis: int, border: bool = False) -> int:
        """Bytes of one face: the axes before this one are already whole, or with `border` all are."""
        size = WORD
        for other in AXES:
            if other != axis:
                size *= self.points[other] - (0 if other < axis or border else 2)
        return size


def torus(processes: int) -> tuple[int, int, int]:
    """Processes along each axis: powers of two as equal as can be, the last axis the longest."""
    log = processes.bit_length() - 1
    x = log // 3
    y = (log - x) // 2
    return 1 << x, 1 << y, processes >> x + y


def levels(processes: int, rank: int) -> dict[int, Level]:
    """All levels of one process, by number; `LEVELS` is the finest."""
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
    """Points of the process at a place, with borders."""
    side = 1 << level
    return 2 + (place + 1) * side // along - place * side // along


@dataclass(frozen=True)
class Buffers:
    """The four buffers, and what moves through them."""

    levels: dict[int, Level]
    out: dict[int, int]
    """Address to send from, by direction."""
    into: dict[int, int]

    def exchange(self, k: int) -> Iterator[Transfer]:
        """Faces of a level, axis by axis."""
        level = self.levels[k]
        if level.dead:
            return
        for axis in AXES:
            size = level.face(axis)
            into = (Transfer(False, level.peers[axis, way], self.into[way], size) for way in (DOWN, UP))
            out = (Transfer(True, level.peers[axis, way], self.out[way], size) for way in (UP, DOWN))
            yield from together((*into, *out))

    def give_back(self, k: int) -> Iterator[Transfer]:
        """To processes without points on the next coarser level: upwards two faces, downwards one."""
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
    """One process of MG."""
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
    begin = 2 * residual  # the right side, and its first residual
    return Traffic((*begin, *cycle, *residual, *begin), (*cycle, *residual), ITERATIONS[problem])
