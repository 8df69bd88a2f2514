"""The codes by name, and what follows from their partners alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from statistics import fmean

from pymodels.npb.cg import cg
from pymodels.npb.ep import ep
from pymodels.npb.ft import ft
from pymodels.npb.integer_sort import integer_sort
from pymodels.npb.lu import lu
from pymodels.npb.mg import mg
from pymodels.npb.multipartition import BT, SP, adi
from pymodels.npb.streams import Traffic

CODES: Mapping[str, Callable[[str, int, int], Traffic]] = {
    "BT": partial(adi, BT),
    "CG": cg,
    "IS": integer_sort,
    "LU": lu,
    "MG": mg,
    "SP": partial(adi, SP),
}
"""One process's traffic, by code: (class "A" or "B", processes, rank). Those of paper 001, 2.3.3."""
ALL_CODES: Mapping[str, Callable[[str, int, int], Traffic]] = {**CODES, "EP": ep, "FT": ft}
"""And two more of chapter 6."""


def traffic(code: str, problem: str, processes: int, rank: int) -> Traffic:
    """The transfers of one process. Raises ValueError for a number of processes that the code does not take."""
    return ALL_CODES[code](problem, processes, rank)


def recv_queues(code: str, processes: int, problem: str = "A") -> float:
    """Receive queues that a completion queue has, on average over processes: those from which a process receives.

    LU and MG wait for any of them (paper 001, 2.3.4).
    """
    return fmean(len(_sources(traffic(code, problem, processes, rank))) for rank in range(processes))


def _sources(process: Traffic) -> set[int]:
    return {transfer.peer for transfer in (*process.setup, *process.step) if not transfer.send}
