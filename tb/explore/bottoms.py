"""Where a node ends up by itself: the states that it does not leave for good unless a packet leaves or arrives."""

from __future__ import annotations

from tb.explore.node import Node
from tb.explore.sets import States


class Bottoms:
    """The bottoms of one node: groups of states each of which leads to all others of its group, and to nothing else,
    by turns that nobody else notices. From every state some bottom can be reached.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._reached: dict[int, frozenset[States]] = {}
        """By state: the bottoms that can be reached from it."""

    def of(self, states: States) -> list[States]:
        """Those that can be reached from these states."""
        for state in sorted(states):
            if state not in self._reached:
                self._walk(state)
        return sorted(frozenset().union(*(self._reached[state] for state in states)), key=sorted)

    def _walk(self, root: int) -> None:
        """Tarjan's search for strongly connected groups; the last ones of every way are found first."""
        order: dict[int, int] = {root: 0}
        low, stack, path = {root: 0}, [root], [(root, self._following(root))]
        while path:
            state, following = path[-1]
            if following:
                self._look(state, following.pop(), order, low, stack, path)
                continue
            path.pop()
            if path:
                before = path[-1][0]
                low[before] = min(low[before], low[state])
            if low[state] == order[state]:
                cut = stack.index(state)
                self._close(frozenset(stack[cut:]))
                del stack[cut:]

    def _look(
        self,
        state: int,
        after: int,
        order: dict[int, int],
        low: dict[int, int],
        stack: list[int],
        path: list[tuple[int, list[int]]],
    ) -> None:
        if after in self._reached:
            return
        if after in order:  # on the stack: what is not has been reached
            low[state] = min(low[state], order[after])
            return
        order[after] = low[after] = len(order)
        stack.append(after)
        path.append((after, self._following(after)))

    def _close(self, group: States) -> None:
        outside = {after for state in group for after in self._following(state)} - group
        found = frozenset().union(*(self._reached[after] for after in outside)) if outside else frozenset([group])
        for state in group:
            self._reached[state] = found

    def _following(self, state: int) -> list[int]:
        return [led.after for led in self._node.turns(state).inner]
