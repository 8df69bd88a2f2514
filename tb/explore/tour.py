"""What a part does by itself, worked out in tours: a process that has taken a step goes on to the next that nobody has
taken, as long as it can get to one. To begin at a state costs a fork, and memory that is copied; to go on costs little.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from tb.explore.part import Seen, Sent, Stage, Step

NEAR = 64
"""So many states are looked at for a step that nobody has taken."""


class Result(NamedTuple):
    """A step of a part."""

    before: bytes
    """The digest of the state in which it was taken."""
    step: Step
    seen: Seen
    """What it made of the part."""
    sent: Sent
    """The messages that left."""


class Map:
    """The states of a part that were seen, by digest, and where the steps lead that it takes by itself."""

    def __init__(self) -> None:
        self._after: dict[bytes, dict[Step, bytes | None]] = {}
        """None: nobody has taken the step."""

    def _see(self, seen: Seen) -> None:
        """A state."""
        if seen.digest not in self._after:
            turns = enumerate(seen.turns)
            steps = [("turn", number) for number, turn in turns if not turn.is_timer and turn.asks is None]
            self._after[seen.digest] = dict.fromkeys(steps)

    def learn(self, result: Result) -> None:
        """A step that was taken."""
        self._see(result.seen)
        if result.step in self._after.get(result.before, ()):
            self._after[result.before][result.step] = result.seen.digest

    def after(self, state: bytes, step: Step) -> bytes | None:
        """Where a step leads, if that is known."""
        return self._after[state].get(step)

    def way_on(self, state: bytes) -> list[Step]:
        """The shortest way from a state that ends with a step that nobody has taken; nothing: there is none near."""
        todo = deque([(state, list[Step]())])
        seen = {state}
        while todo:
            at, way = todo.popleft()
            for step, after in self._after[at].items():
                if after is None:
                    return [*way, step]
                if after not in seen and len(seen) < NEAR:
                    seen.add(after)
                    todo.append((after, [*way, step]))
        return []


def tour(stage: Stage, known: Map, at: bytes, first: Step) -> list[Result]:
    """A step from where the part stands, and then all that nobody has taken yet and that is on the way."""
    results: list[Result] = []
    way = [first]
    while way:
        for step in way:
            after = known.after(at, step)
            if after is None:
                results.append(_taken(stage, at, step))
                known.learn(results[-1])
                after = results[-1].seen.digest
            else:
                stage.step(step)
            at = after
        way = known.way_on(at)
    return results


def _taken(stage: Stage, at: bytes, step: Step) -> Result:
    wrong = ""
    try:
        stage.step(step)
    except Exception as error:  # noqa: BLE001 - whatever the software raises is a finding
        wrong = f"{type(error).__name__}: {error}"
    return Result(at, step, stage.seen(wrong), tuple(stage.sent))
