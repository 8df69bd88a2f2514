"""Bottom components of a node: sets of states that it leaves only when a packet leaves or arrives."""

from __future__ import annotations

from tb.explore.node import Node
from tb.explore.sets import States


class Bottoms:
    """Bottom components of one node under internal turns. All states of a component are mutually reachable, and no
    other state is reachable from them. From every state at least one component is reachable.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._reached: dict[int, frozenset[States]] = {}
        """Reachable bottom components of each state."""

    def reachable(self, states: States) -> list[States]:
        """Return the bottom components that are reachable from these states."""
        for state in sorted(states):
            if state not in self._reached:
                self._walk(state)
        return sorted(frozenset().union(*(self._reached[state] for state in states)), key=sorted)

    def _walk(self, root: int) -> None:
        """Find strongly connected components with Tarjan's algorithm, which finds the last ones of every path first."""
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
        if after in order:  # still on the stack, since finished states are in _reached
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
