"""Miss rates of the NICs' translation caches for each code: the figures of the paper (001, Figures 2.1 to 2.4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from pymodels.npb.caches import Misses, miss_rates
from pymodels.npb.codes import CODES, traffic
from pymodels.npb.streams import Traffic, Transfer

SHAPES: Mapping[str, tuple[int, ...]] = {"128": (128, 1), "1024": (1024, 1), "128x8": (128, 8)}
"""Sets and ways of the paper's caches (readings C9)."""
VICTIMS = 16
"""Pages of a victim cache (ours: not in the paper)."""
WITH_VICTIMS: Mapping[str, tuple[int, ...]] = {name: (*SHAPES[name], VICTIMS) for name in ("128", "1024")}
"""Caches of the paper with a victim cache."""
RUNS = (("A", 4), ("A", 16), ("B", 16), ("B", 64))
"""Class and number of processes of the paper's figures."""


def of_all(code: str, problem: str, processes: int, shapes: Sequence[tuple[int, ...]]) -> list[Misses]:
    """Return the counts of all processes together, for each shape of cache."""
    found = [Misses() for _ in shapes]
    for process, times in _alike(code, problem, processes).items():
        for total, shape in zip(found, shapes, strict=True):
            total.add(miss_rates(process, *shape), times)
    return found


def _alike(code: str, problem: str, processes: int) -> Counter[Traffic]:
    """Return the number of processes with equal cache behaviour, ignoring peers."""
    alike: Counter[Traffic] = Counter()
    for rank in range(processes):
        process = traffic(code, problem, processes, rank)
        alike[Traffic(_faceless(process.setup), _faceless(process.step), process.iterations)] += 1
    return alike


def _faceless(transfers: Sequence[Transfer]) -> tuple[Transfer, ...]:
    return tuple(transfer._replace(peer=0) for transfer in transfers)


def figure(
    problem: str, processes: int, shapes: Mapping[str, tuple[int, ...]] = SHAPES
) -> dict[tuple[str, str], Misses]:
    """Return one of the paper's plots: counts by code and shape."""
    return {
        (code, shape): misses
        for code in CODES
        for shape, misses in zip(shapes, of_all(code, problem, processes, tuple(shapes.values())), strict=True)
    }
