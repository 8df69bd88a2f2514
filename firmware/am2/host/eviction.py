"""Choice of the endpoint that is evicted from the NIC's memory (option `replace`).

As with a page table, the driver knows whether a process has stored to a frame since the driver's last check.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

from firmware.am2.host.granted import Granted

Choice = Callable[[Sequence[Granted | None]], Iterator[Granted]]
"""Function from the owners of all frames to eviction candidates, best first."""


class Clock:
    """Clock algorithm: a hand visits the frames in turn and skips those that were stored to since its last visit."""

    def __init__(self) -> None:
        self._hand = 0

    def __call__(self, frames: Sequence[Granted | None]) -> Iterator[Granted]:
        """Yield candidates in two rounds at most. The first round clears the marks."""
        for _ in range(2 * len(frames)):
            owner = frames[self._hand % len(frames)]
            self._hand += 1
            if owner is None:
                continue
            if owner.stored:
                owner.stored = False
            else:
                yield owner


class RandomChoice:
    """Random choice."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def __call__(self, frames: Sequence[Granted | None]) -> Iterator[Granted]:
        """Yield candidates in random order."""
        owners = [owner for owner in frames if owner is not None]
        self._random.shuffle(owners)
        yield from owners


class LeastRecentlyStored:
    """Least recently stored to (LRU), as sampled by the driver once for each choice."""

    def __init__(self) -> None:
        self._looks = 0
        self._seen: dict[int, int] = {}
        """Number of the last choice before which each endpoint was stored to."""

    def __call__(self, frames: Sequence[Granted | None]) -> Iterator[Granted]:
        """Yield candidates by age; equal ages by the time from which eviction is allowed."""
        self._looks += 1
        owners = [owner for owner in frames if owner is not None]
        for owner in owners:
            if owner.stored:
                owner.stored = False
                self._seen[owner.number] = self._looks
        yield from sorted(owners, key=lambda owner: (self._seen.get(owner.number, 0), owner.until))


def choice_of(name: str, seed: int) -> Choice:
    """Return the choice for a value of the option. `seed` is for random choices."""
    if name == "random":
        return RandomChoice(seed)
    return Clock() if name == "clock" else LeastRecentlyStored()
