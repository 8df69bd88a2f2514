"""Node of a small world, NIC and host together, as seen by other nodes: packets leave it, and packets arrive.

The bus transactions between NIC and host are internal. Nodes interact by packets only.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tb.explore.atlas import Atlas
from tb.explore.part import Seen, Shown, Step
from tb.explore.world import ALWAYS

At = tuple[int, int]
"""State of a part: its number, and how often a timer of the part may still fire early."""
Pair = tuple[At, At]
"""State of a node: those of its NIC and its host."""


class Taken(NamedTuple):
    """Step of a part."""

    part: int
    at: At
    step: Step


class Led(NamedTuple):
    """Result of a step for a node."""

    after: int
    """Number of the state."""
    packets: tuple[int, ...]
    """Packets that left."""
    steps: tuple[Taken, ...]
    """The step, and the steps of the other part that its messages caused."""


class Turns(NamedTuple):
    """Turns of a node without an arriving packet."""

    inner: tuple[Led, ...]
    """Turns that other nodes cannot observe."""
    telling: tuple[Led, ...]
    """Turns in which packets leave, whether the network has room or not."""
    sending: tuple[Led, ...]
    """Turns in which a packet can leave if the network has room."""


class Packets:
    """Numbers of packets, each with its target NIC and content."""

    def __init__(self) -> None:
        self.known: list[tuple[int, Step]] = []
        self._numbers: dict[tuple[int, Step], int] = {}

    def number(self, part: int, packet: Step) -> int:
        """Return the number of a packet."""
        number = self._numbers.setdefault((part, packet), len(self.known))
        if number == len(self.known):
            self.known.append((part, packet))
        return number

    def target(self, number: int) -> int:
        """Return the target node of a packet."""
        return self.known[number][0] // 2

    def data(self, number: int) -> bytes:
        """Return the bytes of a packet."""
        data: bytes = self.known[number][1][1]
        return data


class Node:
    """States of a node, computed on demand."""

    def __init__(self, number: int, atlas: Atlas, packets: Packets, early: int, serves: bool) -> None:
        self.nic, self.host = 2 * number, 2 * number + 1
        """Numbers of its parts."""
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
        """Return the states of its NIC and its host."""
        (nic, _), (host, _) = self.states[state]
        places = self._atlas.places
        return places[self.nic][nic].seen, places[self.host][host].seen

    def turns(self, state: int) -> Turns:
        """Return the turns of a state."""
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
        """Return the results of an arriving packet; empty if it cannot be received."""
        key = state, packet, damaged
        found = self._takes.get(key)
        if found is None:
            kind, data, _ = self._packets.known[packet][1]
            armed = self.seen(state)[0].armed
            found = self._takes[key] = (self._take(state, self.nic, (kind, data, damaged)),) if armed else ()
        return found

    def timers(self, state: int) -> tuple[Led, ...]:
        """Return the results of all timers, for a world in which nothing else can happen."""
        found = self._timers.get(state)
        if found is None:
            found = self._timers[state] = tuple(
                self._take(state, part, ("turn", place))
                for part, _, place, turn in self._all_turns(state)
                if turn.is_timer
            )
        return found

    def rests(self, state: int, full: bool, wanted: bool) -> bool:
        """Return True if only a timer can fire.

        Args:
            state: Number of the state.
            full: True if the network accepts no packet from the node.
            wanted: True if the network has a packet for the node.
        """
        if wanted and self.seen(state)[0].armed:
            return False
        return not any(
            (early == ALWAYS or not turn.is_timer) and not (turn.is_packet and full)
            for early, turn in self.changing(state)
        )

    def changing(self, state: int) -> list[tuple[int, Shown]]:
        """Return the turns that change the state, each with how often timers of its part may still fire early.

        Where programs serve for ever, a poll over the bus that leads back to the same state is left out: it counts as
        waiting.
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
        """Yield part, state of the part, index and turn for both parts."""
        for part, at, seen in zip((self.nic, self.host), self.states[state], self.seen(state), strict=True):
            for place, turn in enumerate(seen.turns):
                yield part, at, place, turn

    def _led(self, state: int) -> Iterator[tuple[Shown, Led]]:
        """Yield the turns with their results."""
        for part, (_, early), place, turn in self._all_turns(state):
            if early or not turn.is_timer:
                step = ("turn", place) if turn.asks is None else ("turn", place, self._answer(state, part, turn.asks))
                yield turn, self._take(state, part, step, spent=turn.is_timer and early > 0)

    def _answer(self, state: int, part: int, question: Step) -> object:
        """Return the other part's answer to a question, which does not change its state."""
        other = part ^ 1
        _, ((_, (_, answer)),) = self._atlas.after(other, self.states[state][other % 2][0], question)
        return answer

    def _take(self, state: int, part: int, step: Step, spent: bool = False) -> Led:
        """Return the result of a step of a part; `spent` consumes one early firing of a timer."""
        pair, packets, steps = list(self.states[state]), list[int](), list[Taken]()
        self._follow(pair, part, step, packets, steps)
        if spent:
            number, early = pair[part % 2]
            pair[part % 2] = number, early - 1
        return Led(self._number((pair[0], pair[1])), tuple(packets), tuple(steps))

    def _follow(self, pair: list[At], part: int, step: Step, packets: list[int], steps: list[Taken]) -> None:
        """Execute a step and the steps caused by its messages; bus transactions take effect at once."""
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
