"""A node of a small world, its NIC and its host together, as the others see it: packets leave it, and packets arrive.

What NIC and host do to each other over the bus is followed here. It is nobody else's business: two nodes share nothing
but packets.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tb.explore.atlas import Atlas
from tb.explore.part import Seen, Shown, Step
from tb.explore.world import ALWAYS

At = tuple[int, int]
"""A state of a part: its number, and how often a timer of the part may still go off early."""
Pair = tuple[At, At]
"""A state of a node: of its NIC, and of its host."""


class Taken(NamedTuple):
    """A step of a part."""

    part: int
    at: At
    step: Step


class Led(NamedTuple):
    """What a step leads a node to."""

    after: int
    """The state's number."""
    packets: tuple[int, ...]
    """That left."""
    steps: tuple[Taken, ...]
    """The step, and those that its messages made the other part take at once."""


class Turns(NamedTuple):
    """What a node can do by itself."""

    inner: tuple[Led, ...]
    """Nobody else notices."""
    telling: tuple[Led, ...]
    """Packets leave, whether the network has room or not."""
    sending: tuple[Led, ...]
    """A packet can leave where the network has room."""


class Packets:
    """Packets by number: the NIC that each is for, and itself."""

    def __init__(self) -> None:
        self.known: list[tuple[int, Step]] = []
        self._numbers: dict[tuple[int, Step], int] = {}

    def number(self, part: int, packet: Step) -> int:
        """Of a packet."""
        number = self._numbers.setdefault((part, packet), len(self.known))
        if number == len(self.known):
            self.known.append((part, packet))
        return number

    def target(self, number: int) -> int:
        """The node that a packet is for."""
        return self.known[number][0] // 2

    def data(self, number: int) -> bytes:
        """What a packet holds."""
        data: bytes = self.known[number][1][1]
        return data


class Node:
    """The states of a node, found as they are asked for."""

    def __init__(self, number: int, atlas: Atlas, packets: Packets, early: int, serves: bool) -> None:
        self.nic, self.host = 2 * number, 2 * number + 1
        """Its parts."""
        self._serves = serves
        self.states: list[Pair] = []
        self._atlas, self._packets = atlas, packets
        self._numbers: dict[Pair, int] = {}
        self._turns: dict[int, Turns] = {}
        self._takes: dict[tuple[int, int, bool], tuple[Led, ...]] = {}
        self._timers: dict[int, tuple[Led, ...]] = {}
        self._changing: dict[int, list[tuple[int, Shown]]] = {}
        self._number(((0, early), (0, early)))

    def seen(self, state: int) -> tuple[Seen, Seen]:
        """What its NIC and its host are."""
        (nic, _), (host, _) = self.states[state]
        places = self._atlas.places
        return places[self.nic][nic].seen, places[self.host][host].seen

    def turns(self, state: int) -> Turns:
        """What it can do by itself."""
        found = self._turns.get(state)
        if found is None:
            led = [(turn.is_packet, one) for turn, one in self._led(state)]
            found = self._turns[state] = Turns(
                tuple(one for is_packet, one in led if not is_packet and not one.packets),
                tuple(one for is_packet, one in led if not is_packet and one.packets),
                tuple(one for is_packet, one in led if is_packet),
            )
        return found

    def takes(self, state: int, packet: int, damaged: bool) -> tuple[Led, ...]:
        """What a packet that arrives leads to; nothing: it cannot be taken."""
        key = state, packet, damaged
        found = self._takes.get(key)
        if found is None:
            kind, data, _ = self._packets.known[packet][1]
            armed = self.seen(state)[0].armed
            found = self._takes[key] = (self._take(state, self.nic, (kind, data, damaged)),) if armed else ()
        return found

    def timers(self, state: int) -> tuple[Led, ...]:
        """What the timers that may go off, as nothing else can happen, lead to."""
        found = self._timers.get(state)
        if found is None:
            found = self._timers[state] = tuple(
                self._take(state, part, ("turn", place))
                for part, _, place, turn in self._all_turns(state)
                if turn.is_timer
            )
        return found

    def rests(self, state: int, full: bool, wanted: bool) -> bool:
        """Whether nothing but a timer can happen to it. `full`: the network takes no packet of it; `wanted`: it has one
        for it.
        """
        if wanted and self.seen(state)[0].armed:
            return False
        return not any(
            (early == ALWAYS or not turn.is_timer) and not (turn.is_packet and full)
            for early, turn in self.changing(state)
        )

    def changing(self, state: int) -> list[tuple[int, Shown]]:
        """The turns that change anything, each with how often its part's timers may still go off early. Where programs
        serve for ever, a look over the bus that leads back to the state is none: who looks again and again waits.
        """
        found = self._changing.get(state)
        if found is None:
            found = self._changing[state] = [
                (at[1], turn)
                for part, at, place, turn in self._all_turns(state)
                if not (self._serves and turn.asks and self._finds_nothing(state, part, place, turn.asks))
            ]
        return found

    def _finds_nothing(self, state: int, part: int, place: int, question: Step) -> bool:
        led = self._take(state, part, ("turn", place, self._answer(state, part, question)))
        return led.after == state and not led.packets

    def _all_turns(self, state: int) -> Iterator[tuple[int, At, int, Shown]]:
        """Of both parts: the part, its state, the place of the turn, the turn."""
        for part, at, seen in zip((self.nic, self.host), self.states[state], self.seen(state), strict=True):
            for place, turn in enumerate(seen.turns):
                yield part, at, place, turn

    def _led(self, state: int) -> Iterator[tuple[Shown, Led]]:
        """Its turns, and what they lead to."""
        for part, (_, early), place, turn in self._all_turns(state):
            if early or not turn.is_timer:
                step = ("turn", place) if turn.asks is None else ("turn", place, self._answer(state, part, turn.asks))
                yield turn, self._take(state, part, step, spent=turn.is_timer and early > 0)

    def _answer(self, state: int, part: int, question: Step) -> object:
        """What the other part says; it changes nothing."""
        other = part ^ 1
        _, ((_, (_, answer)),) = self._atlas.after(other, self.states[state][other % 2][0], question)
        return answer

    def _take(self, state: int, part: int, step: Step, spent: bool = False) -> Led:
        """A step of a part. `spent`: one of the times that a timer may go off early."""
        pair, packets, steps = list(self.states[state]), list[int](), list[Taken]()
        self._follow(pair, part, step, packets, steps)
        if spent:
            number, early = pair[part % 2]
            pair[part % 2] = number, early - 1
        return Led(self._number((pair[0], pair[1])), tuple(packets), tuple(steps))

    def _follow(self, pair: list[At], part: int, step: Step, packets: list[int], steps: list[Taken]) -> None:
        """A step, and what its messages make of the node: what goes over the bus is there at once."""
        at = pair[part % 2]
        following, sent = self._atlas.after(part, at[0], step)
        pair[part % 2] = following, at[1]
        steps.append(Taken(part, at, step))
        for target, message in sent:
            if message[0] == "packet":
                packets.append(self._packets.number(target, message))
            else:
                self._follow(pair, target, message, packets, steps)

    def _number(self, pair: Pair) -> int:
        number = self._numbers.setdefault(pair, len(self.states))
        if number == len(self.states):
            self.states.append(pair)
        return number
