"""Steps of the model checker's search, on nodes that are small graphs.

Strategy: a drawn node defines the successors of each state by turns, packets and timers. The results of sets, moves,
bottom components and ways out are compared with the graph. A tour of a drawn part must take each reachable step once.
test_explore_sound.py checks the completeness of whole searches.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from tb.explore.bottoms import Bottoms
from tb.explore.moves import Moves
from tb.explore.node import Led, Node, Packets, Turns
from tb.explore.part import Seen, Shown, Stage, Step
from tb.explore.sets import Sets
from tb.explore.situation import NONE, Situation
from tb.explore.tour import Map, Result, tour
from tb.explore.ways_out import WaysOut
from tb.explore.world import SmallWorld


class Drawn:
    """A node drawn as a graph: by state, where turns, packets and timers lead."""

    def __init__(
        self,
        inner: dict[int, tuple[int, ...]],
        sending: dict[int, int] | None = None,
        telling: dict[int, int] | None = None,
        whole: dict[int, int] | None = None,
        damaged: dict[int, int] | None = None,
        timers: dict[int, int] | None = None,
    ) -> None:
        self.inner, self.sending, self.telling = inner, sending or {}, telling or {}
        self.whole, self.damaged, self.at_rest = whole or {}, damaged or {}, timers or {}

    def turns(self, state: int) -> Turns:
        """See `Node`; the packet that leaves is number 7."""
        inner = tuple(Led(after, (), ()) for after in self.inner[state])
        return Turns(inner, leads(self.telling, state, 7), leads(self.sending, state, 7))

    def takes(self, state: int, packet: int, damaged: bool) -> tuple[Led, ...]:
        """See `Node`."""
        return leads(self.damaged if damaged else self.whole, state)

    def timers(self, state: int) -> tuple[Led, ...]:
        """See `Node`."""
        return leads(self.at_rest, state)

    def rests(self, state: int, full: bool, wanted: bool) -> bool:
        """See `Node`."""
        return state in self.at_rest


def leads(graph: dict[int, int], state: int, *packets: int) -> tuple[Led, ...]:
    """Return the successors of a state in a graph."""
    return (Led(graph[state], packets, ()),) if state in graph else ()


def sets_of(drawn: Drawn) -> Sets:
    """Return the sets of a drawn node."""
    return Sets(cast("Node", drawn))


def moves_of(*drawn: Drawn) -> Moves:
    """Return the moves of drawn nodes. All packets are for the last node; the network holds one."""
    moves = Moves.__new__(Moves)
    moves.nodes, moves.sets = [cast("Node", one) for one in drawn], [sets_of(one) for one in drawn]
    moves.world = cast("SmallWorld", SimpleNamespace(room=1, faults=frozenset()))
    moves.packets = cast("Packets", SimpleNamespace(target=lambda packet: len(drawn) - 1))
    return moves


def test_a_packet_leaves_only_where_the_network_has_room_unless_it_cannot_wait() -> None:
    sets = sets_of(Drawn({0: (), 1: (), 2: ()}, sending={0: 1}, telling={0: 2}))
    begin = sets.closed(frozenset([0]))
    assert [sets.known[after] for _, after in sets.acts(begin, True)] == [{2}]
    assert [sets.known[after] for _, after in sets.acts(begin, False)] == [{1, 2}]


def test_damaged_packet_leads_to_another_state_than_an_intact_one() -> None:
    sets = sets_of(Drawn({0: (), 1: (), 2: ()}, whole={0: 1}, damaged={0: 2}))
    begin = sets.closed(frozenset([0]))
    assert [sets.known[after] for _, after in sets.takes(begin, 3, False)] == [{1}]
    assert [sets.known[after] for _, after in sets.takes(begin, 3, True)] == [{2}]


def test_other_nodes_take_internal_turns_while_a_timer_fires() -> None:
    """Let both nodes rest in 0. A timer leads to 1; one that fires early is a turn from 0 to 2."""
    moves = moves_of(*(Drawn({0: (2,), 1: (), 2: ()}, timers={0: 1}) for _ in range(2)))
    rest = Situation(tuple(one.number(frozenset([0])) for one in moves.sets), ((), ()), NONE, 0)
    found = {tuple(moves.states(following)) for _, following in moves.timers(rest)}
    assert found == {(frozenset({1}), frozenset({0, 2})), (frozenset({0, 2}), frozenset({1}))}


@pytest.mark.parametrize("end", [3, 5])
def test_a_way_out_may_lead_through_states_that_a_node_leaves_by_itself(end: int) -> None:
    """Node 0 sends for ever. A packet takes node 1 from 2 to 1, and 1 goes back by itself; a second one in time ends
    all, in 3. Nothing leads to 5.
    """
    moves = moves_of(Drawn({0: ()}, sending={0: 0}), Drawn({1: (2,), 2: (), 3: (), 5: ()}, whole={1: 3, 2: 1}))
    begin = Situation((moves.sets[0].closed(frozenset([0])), moves.sets[1].closed(frozenset([2]))), ((), ()), NONE, 0)
    ways = WaysOut(moves, lambda situation: end in moves.states(situation)[1], lambda: None)
    assert (ways.lacking([begin]) is None) == (end == 3)


def test_bottom_components_of_a_graph_are_found() -> None:
    """Use a graph from 0 to 1 or 2, in which 2 and 3 lead to each other, and 4 leads to 0 and 2."""
    inner = {0: (1, 2), 1: (), 2: (3,), 3: (2,), 4: (0, 2)}
    bottoms = Bottoms(cast("Node", Drawn(inner)))
    assert bottoms.reachable(frozenset({4})) == [{1}, {2, 3}]
    assert bottoms.reachable(frozenset({3})) == [{2, 3}]
    assert bottoms.reachable(frozenset({0, 1})) == [{1}, {2, 3}]


class DrawnPart:
    """A part drawn as a graph: by state, where its turns lead; in RAISES its software raises an error."""

    def __init__(self, graph: dict[int, tuple[int, ...]], begin: int) -> None:
        self.graph, self.at, self.sent = graph, begin, list[tuple[int, Step]]()
        self.taken: list[tuple[int, int]] = []

    def step(self, step: Step) -> None:
        """See `Stage`."""
        turn = step[1]
        self.taken.append((self.at, turn))
        self.at = self.graph[self.at][turn]
        if self.at == RAISES:
            raise ValueError("drawn")

    def seen(self, wrong: str = "") -> Seen:
        """See `Stage`."""
        turns = () if wrong else (Shown("", "", False, False, None),) * len(self.graph[self.at])
        return Seen(bytes([self.at]), turns, False, (), "", wrong)


RAISES = 9


def toured(graph: dict[int, tuple[int, ...]], known: Map, begin: int, turn: int) -> tuple[DrawnPart, list[Result]]:
    """Tour a drawn part, and return it with the results."""
    part = DrawnPart(graph, begin)
    known.learn(Result(b"", (), part.seen(), ()))
    return part, tour(cast("Stage", part), known, bytes([begin]), ("turn", turn))


def test_tour_covers_every_reachable_step_and_computes_each_once() -> None:
    """Two turns that may come in either order, and a round that leads back."""
    graph = {0: (1, 2), 1: (3,), 2: (3,), 3: (0,)}
    part, results = toured(graph, Map(), 0, 0)
    found = [(one.before[0], one.step[1], one.seen.digest[0]) for one in results]
    assert sorted(found) == [(0, 0, 1), (0, 1, 2), (1, 0, 3), (2, 0, 3), (3, 0, 0)]
    assert len(part.taken) == len(found), "no redundant path is explored twice"


def test_steps_left_by_one_tour_are_covered_by_the_next() -> None:
    """Use a graph without a way back: the first tour takes one branch, the next the other and continues past known
    states.
    """
    graph = {0: (1, 2), 1: (3,), 2: (3,), 3: (4,), 4: ()}
    known = Map()
    first, second = toured(graph, known, 0, 0)[1], toured(graph, known, 0, 1)[1]
    assert [one.seen.digest[0] for one in first] == [1, 3, 4]
    assert [one.seen.digest[0] for one in second] == [2, 3]


def test_a_tour_ends_where_the_software_raises_an_error() -> None:
    results = toured({0: (RAISES, 1), 1: (), RAISES: (1,)}, Map(), 0, 0)[1]
    assert [one.seen.wrong for one in results] == ["ValueError: drawn"]
