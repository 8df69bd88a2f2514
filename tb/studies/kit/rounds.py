"""Round trips: the near end sends, the far end answers, and the near end measures each trip."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

from tb.lab.lab import Notebook

PHASES_PS = 3_000_000
"""Longest random pause before a round trip, ps, so that the trips sample all phases of the polling loops."""


@dataclass
class Trips:
    """Round trips of one measurement; times in ps."""

    begun: list[int] = field(default_factory=list)
    """Start of each trip."""
    took: list[int] = field(default_factory=list)
    """Duration of each trip that was not lost, until the near end has the answer."""
    answers: list[Any] = field(default_factory=list)
    """Result of each task of the far end."""
    whole: int = 0
    """Time from the start of the first pause or trip to the end of the last task of the far end."""

    @property
    def us(self) -> list[float]:
        """Duration of each trip, us."""
        return [ps / 1e6 for ps in self.took]

    @property
    def one_way_us(self) -> list[float]:
        """Half of the duration of each trip, us."""
        return [ps / 2e6 for ps in self.took]

    @property
    def mean_one_way_us(self) -> float:
        """Half of the total time per trip, us; includes the far end's work after its answer."""
        return self.whole / len(self.begun) / 2 / 1e6


def phases(key: str, longest: int = PHASES_PS) -> Callable[[], int]:
    """Return a function that returns random pauses in ps, each shorter than `longest`, from the seed `key`."""
    rng = random.Random(key)
    return lambda: rng.randrange(longest)


async def round_trips(
    lab: Notebook,
    count: int,
    ask: Callable[[int], Awaitable[bool | None]],
    answer: Callable[[], Coroutine[Any, Any, Any]] | None = None,
    *,
    pause: Callable[[], int] | None = None,
    settle: Callable[[int], Awaitable[object]] | None = None,
    answer_first: bool = False,
    messages: int = 2,
) -> Trips:
    """Make round trips one after the other.

    Args:
        lab: the study's lab.
        count: number of trips.
        ask: near end's part of trip `number`: send, and wait for the answer. Returns False if the trip is lost.
        answer: far end's part of a trip, run as a task that ends before the next trip. None: a study task answers
            all trips.
        pause: returns the pause before a trip in ps. None: no pause.
        settle: near end's work after trip `number`, not included in its duration.
        answer_first: True to start the far end before the pause instead of after it.
        messages: number of messages that each trip adds to the messages of the run.
    """
    trips, started = Trips(), lab.kernel.now
    for number in range(count):
        tasks = [lab.spawn(answer(), "the far end")] if answer and answer_first else []
        if pause is not None:
            await lab.kernel.sleep(pause(), "the next round trip")
        if answer and not answer_first:
            tasks = [lab.spawn(answer(), "the far end")]
        begun = lab.kernel.now
        arrived = await ask(number)
        trips.begun.append(begun)
        if arrived is not False:
            trips.took.append(lab.kernel.now - begun)
        if settle is not None:
            await settle(number)
        trips.answers += await lab.all(tasks)
        lab.findings.messages += messages
    trips.whole = lab.kernel.now - started
    return trips
