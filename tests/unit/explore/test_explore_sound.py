"""Completeness of the model checker's search.

Strategy: small worlds are searched twice, by sets of states and state by state. Both searches must reach the same
states, ends and verdict, including firmware with a known deadlock or livelock. Without normalisation the same ends must
be reached. A host that livelocks only if a message arrived early is found. The hash of a frame leaves out exactly its
dead variables.
"""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import pytest

from firmware.grim.nic.layout import Register
from firmware.grim.nic.timeouts import Timeouts
from firmware.via.formats import Reliability
from tb.explore import digest
from tb.explore.atlas import Atlas
from tb.explore.digest import Digest
from tb.explore.liveness import live
from tb.explore.search import Search
from tb.explore.sets import Singles
from tb.explore.world import Promise, SmallWorld
from tb.studies.grim.explore.messages import MessageScript, Once, Sent, Traffic, world
from tb.studies.grim.explore.play import LEFT_OUT, Cluster, GrimPlay, say
from tb.studies.via.explore.rules import Message
from tb.studies.via.explore.worlds import world as via_world
from tests.amount import cases
from tests.unit.explore.test_explore import LOSSY, known, searched

ONE = ((0, 1),)
TRAFFIC: Traffic = (Sent(0, 1),)


def states_of(search: Search) -> set[object]:
    """Return all world states that a search has reached, independent of the search's numbering."""
    moves, packets = search.moves, search.moves.packets.known
    found: set[object] = set()
    for situation in search.situations:
        fifos = tuple(tuple(packets[packet] for packet in fifo) for fifo in situation.fifos)
        late = packets[situation.late] if situation.late >= 0 else None
        sets = zip(moves.nodes, moves.states(situation), strict=True)
        pairs = [[node.states[state] for state in states] for node, states in sets]
        found.update((nodes, fifos, late, situation.faults) for nodes in product(*pairs))
    return found


def by_sets(small: SmallWorld) -> Search:
    """Return a completed search."""
    atlas = Atlas(small)
    try:
        search = Search(small, atlas)
        search.run(math.inf)
    finally:
        atlas.close()
    return search


def both(small: SmallWorld) -> tuple[Search, Search]:
    """Searches by sets and state by state, at their end."""
    atlas = Atlas(small)
    try:
        searches = Search(small, atlas), Search(small, atlas, kind=Singles)
        for search in searches:
            search.run(math.inf)
    finally:
        atlas.close()
    return searches


@pytest.mark.parametrize(
    "small",
    [
        known("miss"),
        world("one", "", ONE, {}),
        world("lost", "", ONE, LOSSY, faults=frozenset({"lost", "damaged"}), times=1),
        world("early", "", ONE, LOSSY, early=1),
        via_world("via", "", (Message(0),), Reliability.DELIVERY),
        *cases([world("doubled", "", ONE, LOSSY, faults=frozenset({"doubled", "overtaken"}), times=1)], []),
    ],
    ids=lambda small: small.name,
)
def test_both_searches_reach_the_same_world_states(small: SmallWorld) -> None:
    sets, single = both(small)
    for search in (sets, single):
        assert (search.outcome.wrong, search.outcome.exhausted) == ("", True)
        assert search.outcome.ends
    assert states_of(sets) == states_of(single)
    assert single.outcome.situations == len(states_of(single)) > sets.outcome.situations


def test_both_searches_find_the_same_deadlock() -> None:
    sets, single = both(known("reads-wait"))
    assert (
        sets.outcome.wrong == single.outcome.wrong == ("at the end NI 0 still holds messages, 0 to 40 of its queue 0")
    )


def test_both_searches_find_the_same_livelock(monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(self: Any, stream: int) -> None:
        """Check a time-out without effect."""
        self._clock.age[stream] = 0

    monkeypatch.setattr(Timeouts, "_expire", never)
    sets, single = both(world("lost", "", ONE, LOSSY, faults=frozenset({"lost"}), times=1))
    assert sets.outcome.wrong == single.outcome.wrong == ("livelock: no end is reachable from here")
    assert states_of(sets) == states_of(single)


def ends_of(search: Search) -> set[object]:
    """Return the possible records of the programs when everything is done."""
    rests = filter(None, map(search.moves.resting, search.situations))
    nodes = search.moves.nodes
    found: set[object] = set()
    for still in (search.still(rest, timers=False) for rest in rests):
        records = [[nodes[number].seen(state)[1].record for state in states] for number, states in enumerate(still)]
        found.update(product(*records))
    return found


@pytest.mark.parametrize(
    "small",
    [
        known("read"),
        *cases([known("reads-wait")], []),
        world("lost", "", ONE, LOSSY, faults=frozenset({"lost", "damaged"}), times=1),
    ],
    ids=lambda small: small.name,
)
def test_normalised_states_behave_equally(monkeypatch: pytest.MonkeyPatch, small: SmallWorld) -> None:
    """Compare with a world whose states also include dead variables and the positions of rings and buffers."""
    merged = by_sets(small)
    monkeypatch.setattr(GrimPlay, "normalise", lambda play, node: None)
    monkeypatch.setattr(digest, "live", lambda code, at: frozenset(code.co_varnames))
    apart = by_sets(small)
    assert (merged.outcome.wrong, merged.outcome.exhausted) == (apart.outcome.wrong, apart.outcome.exhausted)
    assert ends_of(merged) == ends_of(apart)
    assert merged.outcome.worked_out <= apart.outcome.worked_out


class Hasty:
    """The host that has sent a message looks once whether it has been answered; if so, it goes on looking for ever."""

    def __init__(self, cluster: Cluster, traffic: Traffic) -> None:
        self._messages = MessageScript(cluster, traffic)
        self._grims = cluster.grims

    async def act(self, node: int) -> None:
        """See `Script`."""
        await self._messages.act(node)
        grim = self._grims[node]
        front = grim.host.nic_base + grim.layout.register(0, Register.FRONT)
        while node == 0 and await grim.host.pio_read(front):
            pass

    def record(self, node: int) -> Any:
        """See `Script`."""
        return self._messages.record(node)


def test_a_livelock_of_a_slow_host_is_found() -> None:
    """Use an order of packets that leads to a good end if the host has polled before the answer."""

    def play() -> GrimPlay:
        cluster = Cluster(2, False, {})
        return GrimPlay(cluster, Hasty(cluster, TRAFFIC))

    once = Once(TRAFFIC)
    small = SmallWorld("hasty", "", play, Promise(once.always, once.at_end), say, left_out=(*LEFT_OUT, "Hasty"))
    outcome, story = searched(small)
    assert outcome.ends
    assert outcome.wrong == "livelock: no end is reachable from here"
    assert any("host0: bus: a PIO read" in line for line in story)


# ---- parts of a state excluded from its hash


class Pause:
    """Awaits once."""

    def __await__(self) -> Any:
        yield self


async def variables(given: list[int]) -> list[int]:
    """Pause with some variables that are read later, and others that are assigned first."""
    once, again, raised = given[0], given[1], given[2]
    for _ in range(2):
        try:
            await Pause()
            raised = 0
        except ValueError:
            return [raised]
        again = once
        await Pause()
        raised = again
    return [once]


def paused(given: list[int], times: int) -> Any:
    """Return the coroutine at its first pause, or further."""
    coroutine = variables(given)
    for _ in range(times):
        coroutine.send(None)
    return coroutine


@pytest.mark.parametrize(
    ("times", "needed"), [(0, {"given"}), (1, {"once", "raised"}), (2, {"once", "again"}), (3, {"once", "raised"})]
)
def test_a_variable_is_live_that_some_way_from_here_reads(times: int, needed: set[str]) -> None:
    coroutine = paused([1, 2, 3], times)
    assert live(coroutine.cr_code, coroutine.cr_frame.f_lasti) == needed
    coroutine.close()


def number(given: list[int], times: int) -> bytes:
    """Return the hash of a state that contains only this coroutine."""
    coroutine = paused(given, times)
    found = Digest([], [], lambda: (0, 0)).hash(coroutine)
    coroutine.close()
    return found


def test_only_live_variables_belong_to_a_state() -> None:
    alike, one_more, raised_more = [1, 2, 3], [1, 9, 3], [1, 2, 9]
    assert number(alike, 1) == number(one_more, 1)
    assert number(alike, 1) != number(raised_more, 1)
    assert number(alike, 2) == number(raised_more, 2)
    assert number(alike, 0) != number(one_more, 0)
