"""Tours that compute several steps of a part in one process: after a step, the process continues with reachable steps
that have not been computed. Starting at a state costs a fork and copied memory; continuing costs little.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from tb.explore.part import Seen, Sent, Stage, Step

NEAR = 64
"""Maximum number of states searched for a step that has not been computed."""


class Result(NamedTuple):
    """Result of a step of a part."""

    before: bytes
    """Digest of the state before the step."""
    step: Step
    seen: Seen
    """State after the step."""
    sent: Sent
    """Sent messages."""


class Map:
    """Known states of a part by digest, and the results of its own steps."""

    def __init__(self) -> None:
        self._after: dict[bytes, dict[Step, bytes | None]] = {}
        """Digest of the state after each step; None if it has not been computed."""

    def _see(self, seen: Seen) -> None:
        """Add a state."""
        if seen.digest not in self._after:
            turns = enumerate(seen.turns)
            steps = [("turn", number) for number, turn in turns if not turn.is_timer and turn.asks is None]
            self._after[seen.digest] = dict.fromkeys(steps)

    def learn(self, result: Result) -> None:
        """Add a computed step."""
        self._see(result.seen)
        if result.step in self._after.get(result.before, ()):
            self._after[result.before][result.step] = result.seen.digest

    def after(self, state: bytes, step: Step) -> bytes | None:
        """Return the digest of the state after a step, or None if unknown."""
        return self._after[state].get(step)

    def way_on(self, state: bytes) -> list[Step]:
        """Return the shortest path from a state that ends with an uncomputed step; empty if none is near."""
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
    """Execute a step from the present state, then all reachable uncomputed steps, and return the results."""
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
    except Exception as error:  # noqa: BLE001 - any exception of the software is a finding
        wrong = f"{type(error).__name__}: {error}"
    return Result(at, step, stage.seen(wrong), tuple(stage.sent))
