"""Every situation that a small world can come into, breadth first, and whether all promises are kept.

Parts touch each other by messages only. So after one order of messages, whatever state one part can be in goes together
with whatever state another can be in, and the search keeps for each part the set of them. What it follows one by one is
what parts see of each other. It goes breadth first, so that what is wrong is found by a shortest way.
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
from tb.explore.situation import NONE, At, Outcome, Situation
from tb.explore.world import SmallWorld

LEADS = ("acts", "arrives", "timer")
"""Kinds of moves, in the order in which they are taken where the search does not choose."""


class Search:
    """One search. `told` is called now and then with the outcome so far."""

    def __init__(
        self,
        world: SmallWorld,
        atlas: Atlas,
        told: Callable[[Outcome], None] = lambda outcome: None,
        moves: type[Moves] = Moves,
    ) -> None:
        """With `SingleMoves` a situation is one state of the world."""
        self.world, self.atlas, self.told = world, atlas, told
        self.moves = moves(world, atlas, self._tick)
        self.outcome = Outcome(world)
        self.situations: list[Situation] = []
        self._known: dict[Situation, int] = {}
        self._before = array("l")
        self._from, self._to = array("l"), array("l")
        self._good: list[int] = []
        self._judged: set[tuple[int, frozenset[At]]] = set()
        self._stop = self._began = self._last_told = 0.0

    def run(self, seconds: float) -> Outcome:
        """Search until everything is seen, something is wrong, the time is over, or Ctrl-C."""
        self._began = time.monotonic()
        self._stop = self._began + seconds
        try:
            self._add(self.moves.begin(), NONE)
            for _ in range(self.world.lead):
                self._lead()
            begin = len(self.situations) - 1
            self._known = {self.situations[begin]: begin}  # what was passed is followed when it comes again
            self._exhaust(begin)
        except TimeoutError:
            pass
        except KeyboardInterrupt:
            self.outcome.interrupted = True
        self._count()
        return self.outcome

    def unlimited(self) -> None:
        """From now on no time is over: what was found is to be told."""
        self._stop = float("inf")

    def _lead(self) -> None:
        """One move to something new, if there is one. Hosts act first, NICs next, then packets arrive; timers last."""
        situation = self.situations[-1]
        found = [one for one in self.moves.after(situation) if one[0].kind in LEADS]
        if all(resting := self.moves.resting(situation)):
            found += self.moves.timers(situation, resting)
        found.sort(key=lambda one: (LEADS.index(one[0].kind), -(one[0].part % 2)))
        new = next((following for _, following, _ in found if following not in self._known), None)
        if new is not None:
            self._link(len(self.situations) - 1, new)

    def _exhaust(self, begin: int) -> None:
        """See everything that can follow a situation, the last one."""
        at, layer_end = begin, begin + 1
        while at < len(self.situations) and not self.outcome.wrong:
            if at == layer_end:
                layer_end = len(self.situations)
                self.outcome.depth += 1
            self._expand(at)
            at += 1
        if not self.outcome.wrong:
            self.outcome.exhausted = True
            self._all_can_end(begin)

    def _tick(self) -> None:
        """At every step: tell now and then how far it is. Raises TimeoutError when the time is over."""
        now = time.monotonic()
        if now - self._last_told > 0.2:
            self._last_told = now
            self._count()
            self.told(self.outcome)
        if now > self._stop:
            raise TimeoutError

    def _count(self) -> None:
        outcome, atlas = self.outcome, self.atlas
        outcome.situations, outcome.transitions = len(self.situations), len(self._from)
        outcome.ends, outcome.worked_out = len(self._good), atlas.worked_out
        outcome.places = tuple(map(len, atlas.places))
        outcome.seconds = time.monotonic() - self._began

    def _expand(self, at: int) -> None:
        situation = self.situations[at]
        for _, following, _ in self.moves.after(situation):
            self._link(at, following)
        resting = self.moves.resting(situation)
        if all(resting):
            for _, following, _ in self.moves.timers(situation, resting):
                self._link(at, following)
            ends = [
                sorted(number for number, early in states if not self.moves.seen(part, (number, early)).turns)
                for part, states in enumerate(resting)
            ]
            blocked = [
                sorted(
                    number
                    for number, _ in states
                    if not any(t.is_timer for t in self.moves.seen(part, (number, 0)).turns)
                )
                for part, states in enumerate(resting)
            ]
            if all(blocked):
                self._judge_end(at, situation, ends if all(ends) else blocked)

    def _link(self, at: int, following: Situation) -> None:
        known = self._known.get(following)
        if known is None:
            known = self._add(following, at)
        self._from.append(at)
        self._to.append(known)

    def _add(self, situation: Situation, before: int) -> int:
        number = self._known[situation] = len(self.situations)
        self.situations.append(situation)
        self._before.append(before)
        self.outcome.states += prod(map(len, situation.sets))
        for part, states in enumerate(situation.sets):
            if (part, states) not in self._judged:
                self._judged.add((part, states))
                self._judge(number, part, states)
        return number

    # ---- verdicts

    def _judge(self, number: int, part: int, states: frozenset[At]) -> None:
        """What must always hold."""
        for at in sorted(states):
            seen = self.moves.seen(part, at)
            wrong = seen.wrong or (self.world.promise.always(part // 2, seen.record) if part % 2 else "")
            if wrong:
                self._found(number, wrong, (part, at[0]))
                return

    def _judge_end(self, number: int, situation: Situation, ends: list[list[int]]) -> None:
        """Nothing more happens: is everything done?"""
        for part, numbers in enumerate(ends):
            for state in numbers:
                seen = self.moves.seen(part, (state, 0))
                wrong = self.world.promise.at_end(part // 2, seen.record) if part % 2 else seen.left
                if wrong:
                    self._found(number, f"nothing more happens, and {wrong}", (part, state))
                    return
        for hosts in product(*(self._records(part, ends[part]) for part in range(1, len(ends), 2))):
            if wrong := self.world.promise.together(tuple(record for record, _ in hosts)):
                self._found(number, f"nothing more happens, and {wrong}", *(culprit for _, culprit in hosts))
                return
        left = [self.world.say(self.moves.packets[packet][1][1]) for packet in self.moves.waiting(situation)]
        if left:
            self._found(number, f"nothing more happens, and nobody takes {', '.join(left)}", (0, ends[0][0]))
        else:
            self._good.append(number)

    def _records(self, part: int, numbers: list[int]) -> list[tuple[tuple[Any, ...], tuple[int, int]]]:
        """What a host's program can have seen in these states, each with one of them."""
        return list({self.moves.seen(part, (state, 0)).record: (part, state) for state in numbers[::-1]}.items())

    def _found(self, number: int, wrong: str, *culprits: tuple[int, int]) -> None:
        if self.outcome.wrong:
            return
        self.outcome.wrong, self.outcome.found, self.outcome.culprits = wrong, number, frozenset(culprits)
        way = [number]
        while self._before[way[-1]] != NONE:
            way.append(self._before[way[-1]])
        self.outcome.way = way[::-1]

    def _all_can_end(self, begin: int) -> None:
        """From every situation from `begin` on there must be a way to one in which all is done."""
        count = len(self.situations)
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
        lost = can.find(0, begin)
        if lost >= 0:
            self._found(lost, "from here on there is no way to an end: it goes round for ever")
