"""Counterexample of the search as one order of turns, in sentences."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from tb.explore.moves import Moves
from tb.explore.node import Led, Taken
from tb.explore.search import Search
from tb.explore.situation import Move


class Way(NamedTuple):
    """Path of a node to a state."""

    before: Way | None
    number: int
    """Number of the move."""
    steps: tuple[Taken, ...]


Ways = dict[int, "Way | None"]
"""Path to each state of a node; None for the initial state."""


def sentences(search: Search) -> Iterator[str]:
    """Yield the events up to the violation, and the violation."""
    moves, outcome = search.moves, search.outcome
    situations = [search.situations[number] for number in outcome.way]
    ways: list[Ways] = [_closed(moves, node, {0: None}, 0) for node in range(len(moves.nodes))]
    events = [Move("begins", 0)]
    for number, (situation, following) in enumerate(pairwise(situations), 1):
        move = next(move for move, found in moves.every(situation) if found == following)
        events.append(move)
        if move.kind == "timer":
            rest = moves.resting(situation)
            assert rest is not None
            ways = [
                {state: ways[node][state] for state in sorted(states)} for node, states in enumerate(moves.states(rest))
            ]
        if move.kind not in FAULTS or move.kind == "damaged":
            full = moves.full(situation, move.node)
            ways[move.node] = _led(moves, move, full, ways[move.node], number)
        ways = [_closed(moves, node, known, number) for node, known in enumerate(ways)]
    steps = [step for node, known in enumerate(ways) for step in _steps(search, node, known)]
    for number, move in enumerate(events):
        if move.kind in FAULTS:
            yield f"    the network: {_said(search, move.packet)} is {FAULTS[move.kind]}"
        yield from (f"    {_sentence(search, taken)}" for when, taken in steps if when == number)
    yield outcome.wrong


FAULTS = {
    "lost": "lost",
    "damaged": "damaged",
    "doubled": "duplicated: a copy arrives later",
    "overtaken": "delayed: others overtake it",
}


def _led(moves: Moves, move: Move, full: bool, ways: Ways, number: int) -> Ways:
    """Return the paths of the moving node, extended by the move."""
    found: Ways = {}
    for state, way in ways.items():
        for led in _steps_of(moves, move, full, state):
            if led.packets == move.sent:
                found.setdefault(led.after, Way(way, number, led.steps))
    return found


def _steps_of(moves: Moves, move: Move, full: bool, state: int) -> Iterator[Led]:
    if move.kind == "acts":
        yield from moves.sets[move.node].act(state, full)
    elif move.kind == "timer":
        yield from moves.nodes[move.node].timers(state)
    else:
        yield from moves.nodes[move.node].takes(state, move.packet, move.kind == "damaged")


def _closed(moves: Moves, node: int, ways: Ways, number: int) -> Ways:
    """Extend the paths to all states reachable by internal turns."""
    todo = list(ways)
    for state in todo:
        for led in moves.nodes[node].turns(state).inner:
            if led.after not in ways:
                ways[led.after] = Way(ways[state], number, led.steps)
                todo.append(led.after)
    return ways


def _steps(search: Search, node: int, ways: Ways) -> Iterator[tuple[int, Taken]]:
    """Yield the steps of a node on the path to the violation, or on its shortest path if it is not involved."""
    culprits = search.outcome.culprits.get(node, frozenset())
    ends = [state for state in ways if state in culprits] or sorted(ways, key=lambda state: len(_list(ways[state])))
    for way in _list(ways[ends[0]]):
        yield from ((way.number, taken) for taken in way.steps)


def _list(way: Way | None) -> list[Way]:
    found = []
    while way is not None:
        found.append(way)
        way = way.before
    return found[::-1]


def _said(search: Search, packet: int) -> str:
    return search.world.say(search.moves.packets.data(packet))


def _sentence(search: Search, taken: Taken) -> str:
    """Return a description of one step."""
    part, at, (kind, *given) = taken
    who = f"{'host' if part % 2 else 'NIC'} {part // 2}"
    if kind == "turn":
        turn = search.atlas.places[part][at[0]].seen.turns[given[0]]
        return f"{turn.part}: {turn.what}" + (f" {given[1]}" if len(given) > 1 else "")
    if kind == "packet":
        return f"{who} receives {search.world.say(given[0])}{', damaged' if given[1] else ''}"
    if kind == "interrupt":
        return f"{who}: the interrupt line goes {'up' if given[0] else 'down'}"
    verb = "a store reaches" if kind == "store" else "DMA brings to"
    return f"{verb} {who}, {given[0]:#x}: {given[1].hex(' ', 4)}"
