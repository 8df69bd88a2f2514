"""Breadth-first search of all reachable situations of a small world, with a check of all guarantees.

Nodes interact by packets only. For a given history of packets the states of different nodes are therefore independent,
and the search keeps a set of states for each node. Only packets are followed one by one. Breadth-first order finds a
violation by a shortest path.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable
from itertools import product
from math import prod
from typing import Any

from tb.explore.atlas import Atlas
from tb.explore.moves import Moves
from tb.explore.sets import Sets, States
from tb.explore.situation import NONE, Outcome, Situation
from tb.explore.ways_out import WaysOut
from tb.explore.world import SmallWorld

LEADS = ("acts", "arrives", "timer")
"""Kinds of moves, in order of preference for the lead-in, in which the search does not choose."""


class Search:
    """Search of one world; `report` is called from time to time with the outcome so far."""

    def __init__(
        self,
        world: SmallWorld,
        atlas: Atlas,
        report: Callable[[Outcome], None] = lambda outcome: None,
        kind: type[Sets] = Sets,
    ) -> None:
        """Create a search. With `kind=Singles` a situation is a single state of the world."""
        self.world, self.atlas, self.report = world, atlas, report
        self.moves = Moves(world, atlas, kind)
        self.outcome = Outcome(world)
        self.situations: list[Situation] = []
        self._known: dict[Situation, int] = {}
        self._before = array("l")
        self._transitions = 0
        self._good = 0
        self._judged: list[set[int]] = [set() for _ in self.moves.nodes]
        """States of each node that have passed the check of the invariants."""
        self._stop = self._began = self._last_told = self._processor_began = 0.0

    def run(self, seconds: float) -> Outcome:
        """Search until the world is exhausted, a violation is found, the time is over, or Ctrl-C."""
        self._began, self._processor_began = time.monotonic(), time.process_time()
        self._stop = self._began + seconds
        self.atlas.tick = self._tick
        try:
            self._add(self.moves.begin(), NONE)
            for _ in range(self.world.lead):
                self._lead()
            begin = len(self.situations) - 1
            self._known = {self.situations[begin]: begin}  # states of the lead-in are explored when they recur
            self._exhaust(begin)
        except TimeoutError:
            pass
        except KeyboardInterrupt:
            self.outcome.interrupted = True
        self._count()
        return self.outcome

    def unlimited(self) -> None:
        """Remove the time limit, for the report of a violation."""
        self._stop = float("inf")

    def _lead(self) -> None:
        """Make one move to a new situation if there is one: nodes act first, then packets arrive, timers last."""
        found = [one for one in self.moves.every(self.situations[-1]) if one[0].kind in LEADS]
        found.sort(key=lambda one: LEADS.index(one[0].kind))
        new = next((following for _, following in found if following not in self._known), None)
        if new is not None:
            self._link(len(self.situations) - 1, new)

    def _exhaust(self, begin: int) -> None:
        """Explore everything after the last situation `begin`, and check that an end is reachable from all of it."""
        at, layer_end = begin, begin + 1
        while at < len(self.situations) and not self.outcome.wrong:
            if at == layer_end:
                layer_end = len(self.situations)
                self.outcome.depth += 1
            self._expand(at)
            at += 1
        if self.outcome.wrong:
            return
        lacking = WaysOut(self.moves, self._all_done, self._tick).lacking(self.situations[begin:])
        if lacking is not None:
            place, states = lacking
            wrong = "livelock: no end is reachable from here"
            self._found(begin + place, wrong, dict(enumerate(states)))
        self.outcome.exhausted = True

    def _tick(self) -> None:
        """Report the progress from time to time. Raises TimeoutError at the end of the time."""
        now = time.monotonic()
        if now - self._last_told > 0.2:
            self._last_told = now
            self._count()
            self.report(self.outcome)
        if now > self._stop:
            raise TimeoutError

    def _count(self) -> None:
        outcome, atlas = self.outcome, self.atlas
        outcome.situations, outcome.transitions = len(self.situations), self._transitions
        outcome.ends, outcome.worked_out = self._good, atlas.worked_out
        outcome.places = tuple(map(len, atlas.places))
        outcome.nodes = tuple(len(node.states) for node in self.moves.nodes)
        outcome.seconds = time.monotonic() - self._began
        outcome.processor_s = time.process_time() + atlas.processor_s - self._processor_began

    def _expand(self, at: int) -> None:
        self._tick()
        situation = self.situations[at]
        for _, following in self.moves.every(situation):
            self._link(at, following)
        rest = self.moves.resting(situation)
        if rest is not None:
            self._judge_rest(at, rest)

    def _link(self, at: int, following: Situation) -> None:
        self._transitions += 1
        if following not in self._known:
            self._add(following, at)

    def _add(self, situation: Situation, before: int) -> None:
        number = self._known[situation] = len(self.situations)
        self.situations.append(situation)
        self._before.append(before)
        sets = self.moves.states(situation)
        self.outcome.states += prod(map(len, sets))
        for node, states in enumerate(sets):
            new = states - self._judged[node]
            if new:
                self._judged[node] |= new
                self._judge(number, node, new)

    # ---- verdicts

    def _judge(self, number: int, node: int, states: States) -> None:
        """Check the invariants of new states of a node."""
        for state in sorted(states):
            nic, host = self.moves.nodes[node].seen(state)
            wrong = nic.wrong or host.wrong or self.world.promise.always(node, host.record)
            if wrong:
                self._found(number, wrong, {node: frozenset([state])})
                return

    def still(self, rest: Situation, timers: bool) -> list[list[int]]:
        """Return the states of each node at rest that have no timer (with `timers`) or no turn at all."""

        def isstill(node: int, state: int) -> bool:
            turns = [turn for _, turn in self.moves.nodes[node].changing(state)]
            return not (any(turn.is_timer for turn in turns) if timers else turns)

        sets = enumerate(self.moves.states(rest))
        return [[state for state in sorted(states) if isstill(node, state)] for node, states in sets]

    def _all_done(self, situation: Situation) -> bool:
        """Return True if nothing more happens and nothing is pending."""
        rest = self.moves.resting(situation)
        return rest is not None and not self.moves.waiting(rest) and all(self.still(rest, timers=False))

    def _judge_rest(self, number: int, rest: Situation) -> None:
        """Check at the end of a history that everything is done."""
        ends, blocked = self.still(rest, timers=False), self.still(rest, timers=True)
        if not all(blocked):
            return
        if not all(ends):
            ends = blocked
        for node, states in enumerate(ends):
            for state in states:
                nic, host = self.moves.nodes[node].seen(state)
                wrong = nic.left or self.world.promise.at_end(node, host.record)
                if wrong:
                    self._found(number, f"at the end {wrong}", {node: frozenset([state])})
                    return
        for hosts in product(*(self._records(node, states) for node, states in enumerate(ends))):
            if wrong := self.world.promise.together(tuple(record for record, _ in hosts)):
                culprits = {node: frozenset([state]) for node, (_, state) in enumerate(hosts)}
                self._found(number, f"at the end {wrong}", culprits)
                return
        left = [self.world.say(self.moves.packets.data(packet)) for packet in self.moves.waiting(rest)]
        if left:
            self._found(number, f"at the end {', '.join(left)} remains in the network", {0: frozenset(ends[0])})
        else:
            self._good += 1

    def _records(self, node: int, states: list[int]) -> list[tuple[tuple[Any, ...], int]]:
        """Return the distinct records of a host's program in these states, each with one state."""
        seen = self.moves.nodes[node].seen
        return list({seen(state)[1].record: state for state in states[::-1]}.items())

    def _found(self, number: int, wrong: str, culprits: dict[int, States]) -> None:
        if self.outcome.wrong:
            return
        self.outcome.wrong, self.outcome.found, self.outcome.culprits = wrong, number, culprits
        way = [number]
        while self._before[way[-1]] != NONE:
            way.append(self._before[way[-1]])
        self.outcome.way = way[::-1]
