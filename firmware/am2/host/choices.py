"""Which endpoint leaves the NIC's memory for another one (option `replace`).

The driver sees what a page table tells it: whether a process has stored to a frame since the driver looked last.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

from firmware.am2.host.granted import Granted

Choice = Callable[[Sequence[Granted | None]], Iterator[Granted]]
"""From who has each frame: those who may leave, the first choice first."""


class Clock:
    """A hand goes round the frames, and passes over those that were stored to since it passed last."""

    def __init__(self) -> None:
        self._hand = 0

    def __call__(self, frames: Sequence[Granted | None]) -> Iterator[Granted]:
        """Two rounds at most: in the first the marks are taken away."""
        for _ in range(2 * len(frames)):
            owner = frames[self._hand % len(frames)]
            self._hand += 1
            if owner is None:
                continue
            if owner.stored:
                owner.stored = False
            else:
                yield owner


class AnyOne:
    """Any of them."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def __call__(self, frames: Sequence[Granted | None]) -> Iterator[Granted]:
        """In random order."""
        owners = [owner for owner in frames if owner is not None]
        self._random.shuffle(owners)
        yield from owners


class Oldest:
    """That which was not stored to for the longest, as far as the driver has looked: once for each choice."""

    def __init__(self) -> None:
        self._looks = 0
        self._seen: dict[int, int] = {}
        """By endpoint: the look at which it had been stored to last."""

    def __call__(self, frames: Sequence[Granted | None]) -> Iterator[Granted]:
        """In the order of their ages; of one age, the one that may go first."""
        self._looks += 1
        owners = [owner for owner in frames if owner is not None]
        for owner in owners:
            if owner.stored:
                owner.stored = False
                self._seen[owner.number] = self._looks
        yield from sorted(owners, key=lambda owner: (self._seen.get(owner.number, 0), owner.until))


def choice_of(name: str, seed: int) -> Choice:
    """By the option's value. `seed`: for random choices."""
    if name == "random":
        return AnyOne(seed)
    return Clock() if name == "clock" else Oldest()
