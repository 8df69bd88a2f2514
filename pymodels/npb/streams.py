"""What a benchmark tells of one process: its transfers in program order, and where their buffers stand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

PAGE = 4096
WORD = 8
"""Bytes of a double."""
BASE = 0x1000_0000
"""Where a process's first array stands (ours)."""
GAP = 0
"""Bytes between two arrays (ours): how often a small cache misses hangs on it, tb/uncertainty/README.md."""


class Transfer(NamedTuple):
    """One message as one end of it sees it."""

    send: bool
    peer: int
    address: int
    """Virtual address of the buffer."""
    size: int
    """Bytes."""
    ends: bool = False
    """The process waits behind it for all transfers that it has begun."""

    def pages(self) -> range:
        """Numbers of the pages that the buffer touches."""
        return range(self.address // PAGE, (self.address + self.size - 1) // PAGE + 1)


@dataclass(frozen=True)
class Traffic:
    """The transfers of one process: once, and then the same again in every iteration."""

    setup: tuple[Transfer, ...]
    step: tuple[Transfer, ...]
    iterations: int


def arrays(**sizes: int) -> dict[str, int]:
    """Addresses of arrays, given by name and bytes, one behind the other as in a common block of Fortran."""
    at, places = BASE, {}
    for name, size in sizes.items():
        places[name] = at
        at += -(-size // WORD) * WORD + GAP
    return places


def packed(base: int, sizes: Sequence[int]) -> list[tuple[int, int]]:
    """(address, bytes) of parts that stand one behind the other in one buffer."""
    places, at = [], base
    for size in sizes:
        places.append((at, size))
        at += size
    return places


def together(transfers: Iterable[Transfer]) -> list[Transfer]:
    """Transfers that are begun together; the process waits for all of them."""
    all_of = list(transfers)
    return [*all_of[:-1], *(last._replace(ends=True) for last in all_of[-1:])]
