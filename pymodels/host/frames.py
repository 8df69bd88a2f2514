"""Physical page frames for processes: scattered by seed, returned, reused."""

from __future__ import annotations

import random
from collections.abc import Callable

from pymodels.host.pages import PAGE

AT_ONCE = 1024
"""Number of frames among which the allocation order is random (ours): 4 MB of physical memory."""


class Frames:
    """Page frames of one host's memory."""

    def __init__(self, allocate: Callable[[int], int], seed: str) -> None:
        """Create an empty pool; `allocate(size)` returns contiguous physical memory or raises MemoryError."""
        self._allocate = allocate
        self._random = random.Random(seed)
        self._free: list[int] = []

    def take(self, count: int) -> list[int]:
        """Return the physical addresses of `count` scattered frames. Raises MemoryError, and then allocates none."""
        while len(self._free) < count:
            self._more(count - len(self._free))
        taken = self._free[len(self._free) - count :]
        del self._free[len(self._free) - count :]
        taken.reverse()
        return taken

    def take_run(self, count: int) -> list[int]:
        """Return the physical addresses of `count` contiguous frames. Raises MemoryError, and then allocates none."""
        run: list[int] = []
        for frame in sorted(self._free):
            run = [*run, frame] if run and frame == run[-1] + PAGE else [frame]
            if len(run) == count:
                taken = set(run)
                self._free = [one for one in self._free if one not in taken]
                return run
        base = self._allocate(PAGE * count)
        return [base + PAGE * i for i in range(count)]

    def _more(self, lacking: int) -> None:
        """Add shuffled new frames, fewer than `AT_ONCE` only at the end of memory."""
        try:
            base, count = self._allocate(PAGE * AT_ONCE), AT_ONCE
        except MemoryError:
            base, count = self._allocate(PAGE * lacking), lacking
        fresh = [base + PAGE * i for i in range(count)]
        self._random.shuffle(fresh)
        self._free = fresh + self._free

    def give_back(self, frames: list[int]) -> None:
        """Return frames to the pool."""
        self._free += frames
