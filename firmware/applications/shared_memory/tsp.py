"""TSP: branch and bound for the shortest tour.

Partial tours are in a shared queue under a lock, the best length is under another; the bound is read without the lock.
Below a number of remaining cities, a process searches alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firmware.applications.shared_memory.program import Program, Size
from firmware.tmk.host import Tmk
from firmware.tmk.host.shared import Shared

QUEUE, BEST = 0, 1
"""Numbers of the locks."""
NS = 440.0
"""Time of a tried city, ns (assumed; chosen with the seed so that a sequential search of 18 cities takes some 3 s)."""
DEPTH = 2
"""Cities of the partial tours in the queue, the first one included."""
FAR = 1 << 30


def distances(size: Size) -> NDArray[np.int64]:
    """Return the rounded distances between cities at random positions in a square."""
    places = np.random.default_rng(size.seed).integers(0, 1000, (size.rows, 2))
    away = places[:, None, :] - places[None, :, :]
    rounded: NDArray[np.int64] = np.rint(np.sqrt((away**2).sum(-1))).astype(np.int64)
    return rounded


class Search:
    """Depth-first search below a partial tour."""

    def __init__(self, size: Size) -> None:
        self._away = distances(size).tolist()
        self._near = [sorted(range(size.rows), key=row.__getitem__) for row in self._away]
        self._least = [sorted(row)[1] for row in self._away]
        """Distance from each city to the nearest other one: a lower bound of the next step."""
        self.steps = 0
        """Number of cities tried so far."""

    def length(self, tour: Sequence[int]) -> int:
        """Return the length of a path."""
        return sum(self._away[here][there] for here, there in pairwise(tour))

    def below(self, tour: list[int], best: int) -> tuple[int, list[int]]:
        """Return length and tour of the shortest completion shorter than `best`; the length is FAR if there is none."""
        left = sum(self._least[city] for city in range(len(self._away)) if city not in tour[:-1])
        return self._deeper(tour, self.length(tour), left, best)

    def _deeper(self, tour: list[int], length: int, left: int, best: int) -> tuple[int, list[int]]:
        found, found_tour, here = FAR, [], tour[-1]
        if len(tour) == len(self._away):
            whole = length + self._away[here][tour[0]]
            return (whole, tour[:]) if whole < best else (FAR, [])
        for city in self._near[here]:
            if city in tour:
                continue
            self.steps += 1
            longer = length + self._away[here][city]
            if longer + left - self._least[here] >= best:
                break  # all others are farther
            tour.append(city)
            whole, whole_tour = self._deeper(tour, longer, left - self._least[here], best)
            tour.pop()
            if whole < best:
                best, found, found_tour = whole, whole, whole_tour
        return found, found_tour


def partial_tours(size: Size) -> list[list[int]]:
    """Return all partial tours that start at city 0, the most promising first."""
    search = Search(size)
    tours = [[0]]
    for _ in range(DEPTH - 1):
        tours = [[*tour, city] for tour in tours for city in range(size.rows) if city not in tour]
    return sorted(tours, key=search.length)


async def tsp(tmk: Tmk, size: Size) -> NDArray[Any]:
    """Run one process. Return the length of the shortest tour, then its cities."""
    width = size.rows + 1
    queue: Shared = await tmk.array(1 + len(tours := partial_tours(size)), width, np.int32)  # first: the next to take
    best: Shared = await tmk.array(1, width, np.int32)
    if tmk.proc_id == 0:
        await queue.store(0, np.array([[0] * width] + [[*tour, *[0] * (width - DEPTH)] for tour in tours]))
        await best.store(0, np.array([[FAR] + [0] * size.rows]))
    await tmk.barrier(0)
    tmk.account.open()
    search = Search(size)
    while True:
        await tmk.lock_acquire(QUEUE)
        (taken,) = (await queue.load(0, 1))[0, :1]
        tour: list[int] = []
        if taken < len(tours):
            await queue.store(0, np.array([[taken + 1] + [0] * size.rows]))
            tour = (await queue.load(1 + taken, 2 + taken))[0, :DEPTH].tolist()
        await tmk.lock_release(QUEUE)
        if not tour:
            break
        await _try(tmk, search, tour, best, size)
    await tmk.barrier(0)
    tmk.account.close()
    (result,) = await best.load(0, 1)
    shortest: NDArray[Any] = result
    return shortest


async def _try(tmk: Tmk, search: Search, tour: list[int], best: Shared, size: Size) -> None:
    """Search below a partial tour; the bound is as old as the last acquire."""
    (bound,) = (await best.load(0, 1))[0, :1]
    before = search.steps
    length, found = search.below(tour, int(bound))
    await tmk.process.compute((1 + search.steps - before) * size.ns)
    if length == FAR:
        return
    await tmk.lock_acquire(BEST)
    if length < (await best.load(0, 1))[0, 0]:
        await best.store(0, np.array([[length, *found]]))
    await tmk.lock_release(BEST)


def alone(size: Size) -> NDArray[Any]:
    """Return the length found by Held and Karp's dynamic program, without bounds. The tour is not unique and not
    compared.
    """
    away, others = distances(size), size.rows - 1
    cost = np.full((1 << others, others), FAR, np.int64)
    cost[1 << np.arange(others), np.arange(others)] = away[0, 1:]
    for subset in range(1, 1 << others):
        members = [city for city in range(others) if subset >> city & 1]
        for city in members if len(members) > 1 else []:
            cost[subset, city] = (cost[subset ^ 1 << city] + away[1:, city + 1]).min()
    return np.array([(cost[-1] + away[1:, 0]).min()])


def cities_scaled(size: Size, by: int) -> Size:
    """12 cities at most, the time of a step so much longer that searching still takes most of it."""
    return size if by == 1 else Size(min(size.rows, 12), 0, 1, size.ns * 20, size.seed)


def _first(parts: list[NDArray[Any]]) -> NDArray[Any]:
    return parts[0][:1]


def _pages(size: Size) -> int:
    tours: int = (size.rows - 1) ** (DEPTH - 1)
    return 8 + tours


TSP = Program(tsp, alone, tuple(Size(cities, 0, 1, NS, 2) for cities in (17, 18, 19)), 1, cities_scaled, _pages, _first)
