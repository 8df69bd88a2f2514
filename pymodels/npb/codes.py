"""Benchmarks by name, and properties that follow from their communication partners."""

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
"""Functions (class "A" or "B", processes, rank) that return one process's traffic: the codes of paper 001, 2.3.3."""
ALL_CODES: Mapping[str, Callable[[str, int, int], Traffic]] = {**CODES, "EP": ep, "FT": ft}
"""All codes, including two more of chapter 6."""


def traffic(code: str, problem: str, processes: int, rank: int) -> Traffic:
    """Return the transfers of one process. Raises ValueError for an unsupported number of processes."""
    return ALL_CODES[code](problem, processes, rank)


def recv_queues(code: str, processes: int, problem: str = "A") -> float:
    """Return the mean number of receive queues of a completion queue over all processes: the senders to a process.

    LU and MG wait for any of them (paper 001, 2.3.4).
    """
    return fmean(len(_sources(traffic(code, problem, processes, rank))) for rank in range(processes))


def _sources(process: Traffic) -> set[int]:
    return {transfer.peer for transfer in (*process.setup, *process.step) if not transfer.send}
