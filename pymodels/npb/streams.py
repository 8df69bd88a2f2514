"""Transfers of one benchmark process in program order, and the addresses of their buffers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

PAGE = 4096
WORD = 8
"""Bytes of a double."""
BASE = 0x1000_0000
"""Address of a process's first array (ours)."""
GAP = 0
"""Bytes between two arrays (ours). The miss rate of a small cache depends on it; see tb/uncertainty/README.md."""


class Transfer(NamedTuple):
    """Message as seen by one of its ends."""

    send: bool
    peer: int
    address: int
    """Virtual address of the buffer."""
    size: int
    """Size in bytes."""
    ends: bool = False
    """True if the process then waits for all transfers that it has started."""

    def pages(self) -> range:
        """Return the numbers of the pages that the buffer touches."""
        return range(self.address // PAGE, (self.address + self.size - 1) // PAGE + 1)


@dataclass(frozen=True)
class Traffic:
    """Transfers of one process: those before the first iteration, and those of each iteration."""

    setup: tuple[Transfer, ...]
    step: tuple[Transfer, ...]
    iterations: int


def arrays(**sizes: int) -> dict[str, int]:
    """Return the addresses of contiguous arrays, given by name and bytes, as in a common block of Fortran."""
    at, places = BASE, {}
    for name, size in sizes.items():
        places[name] = at
        at += -(-size // WORD) * WORD + GAP
    return places


def packed(base: int, sizes: Sequence[int]) -> list[tuple[int, int]]:
    """Return address and size of contiguous parts of one buffer."""
    places, at = [], base
    for size in sizes:
        places.append((at, size))
        at += size
    return places


def together(transfers: Iterable[Transfer]) -> list[Transfer]:
    """Return transfers that are started together, after which the process waits for all of them."""
    all_of = list(transfers)
    return [*all_of[:-1], *(last._replace(ends=True) for last in all_of[-1:])]
