"""Check that every state of an exhausted world can reach a good end, that is, has no livelock.

A node that receives no packet reaches one of its bottom components. If all combinations of bottom components can reach
an end, every state can; if one cannot, it is a livelock. The check therefore follows combinations instead of states.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from itertools import product

from tb.explore.bottoms import Bottoms
from tb.explore.moves import Moves
from tb.explore.sets import States
from tb.explore.situation import NONE, Situation


class WaysOut:
    """Combinations of bottom components of a world, and their successors."""

    def __init__(self, moves: Moves, is_good: Callable[[Situation], bool], tick: Callable[[], None]) -> None:
        """Create an empty graph.

        Args:
            moves: Moves of the world.
            is_good: Function that returns True if everything is done in a world at rest.
            tick: Function called from time to time.
        """
        self._moves, self._is_good, self._tick = moves, is_good, tick
        self._bottoms = [Bottoms(node) for node in moves.nodes]
        self._numbers: dict[Situation, int] = {}
        self._known: list[Situation] = []
        self._from, self._to = array("l"), array("l")
        self._good: list[int] = []

    def lacking(self, situations: Iterable[Situation]) -> tuple[int, tuple[States, ...]] | None:
        """Return the index of the first situation with a livelock and its states by node, or None."""
        begun = [[self._number(one) for one in self._combined(situation)] for situation in situations]
        for number, known in enumerate(self._known):
            self._follow(number, known)
        can = self._can_end()
        for place, numbers in enumerate(begun):
            for number in numbers:
                if not can[number] and not self._ends_otherwise(number, can):
                    return place, self._moves.states(self._known[number])
        return None

    def _combined(self, situation: Situation) -> list[Situation]:
        """Return the combinations of bottom components, one of each node, that are reachable from a situation."""
        moves = self._moves
        found = zip(self._bottoms, moves.states(situation), moves.sets, strict=True)
        numbers = [[sets.number(bottom) for bottom in bottoms.reachable(states)] for bottoms, states, sets in found]
        return [situation._replace(sets=combination) for combination in product(*numbers)]

    def _number(self, combination: Situation) -> int:
        number = self._numbers.setdefault(combination, len(self._known))
        if number == len(self._known):
            self._known.append(combination)
        return number

    def _follow(self, number: int, combination: Situation) -> None:
        self._tick()
        if self._is_good(combination):
            self._good.append(number)
        for _, following in self._moves.every(combination):
            for one in self._combined(following):
                self._from.append(number)
                self._to.append(self._number(one))

    def _can_end(self) -> bytearray:
        """Return for each combination whether it can reach a good end through bottom components."""
        count = len(self._known)
        heads, links = array("l", [NONE]) * count, array("l", [NONE]) * len(self._from)
        for edge, target in enumerate(self._to):
            links[edge], heads[target] = heads[target], edge
        can = bytearray(count)
        todo = list(self._good)
        for number in todo:
            can[number] = 1
        while todo:
            edge = heads[todo.pop()]
            while edge != NONE:
                source = self._from[edge]
                if not can[source]:
                    can[source] = 1
                    todo.append(source)
                edge = links[edge]
        return can

    def _ends_otherwise(self, number: int, can: bytearray) -> bool:
        """Return True if a combination reaches an end by a path on which a node acts before it has reached a bottom
        component.
        """
        todo = [self._known[number]]
        seen = set(todo)
        for situation in todo:
            self._tick()
            known = (self._numbers.get(one, NONE) for one in self._combined(situation))
            if self._is_good(situation) or any(can[one] for one in known if one != NONE):
                can[number] = 1
                return True
            new = dict.fromkeys(following for _, following in self._moves.every(situation) if following not in seen)
            seen.update(new)
            todo += new
        return False
