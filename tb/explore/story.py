"""A way that the search has found, as one order of turns, in sentences."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from tb.explore.moves import Log, Moves
from tb.explore.part import Step
from tb.explore.search import Search
from tb.explore.situation import NONE, At, Move, Pair, Situation

Way = tuple["Way | None", int, int, At, Step] | None
"""What a part did before; then the move at which, the place within it, its state and the step."""


def sentences(search: Search) -> Iterator[str]:
    """What happened up to what was found wrong."""
    moves, outcome = search.moves, search.outcome
    situations = [search.situations[number] for number in outcome.way]
    start = [(0, search.world.early)]
    ways: list[dict[At, Way]] = [_closed(moves, part, dict.fromkeys(start), 0) for part in range(search.atlas.parts)]
    told = [Move("begins", NONE)]
    for number, (situation, following) in enumerate(pairwise(situations), 1):
        move, log = _between(moves, situation, following)
        told.append(move)
        for place, (part, pairs) in enumerate(log):
            ways[part] = _closed(moves, part, _led(ways[part], pairs, number, place), number)
    steps = _one_order(search, ways)
    for number, move in enumerate(told):
        if move.kind in FAULTS:
            yield f"    the network: {_said(search, move.packet)} is {FAULTS[move.kind]}"
        yield from (f"    {_sentence(search, part, at, step)}" for when, part, at, step in steps if when == number)
    yield outcome.wrong


FAULTS = {
    "lost": "lost",
    "damaged": "damaged",
    "doubled": "doubled: a copy arrives later",
    "overtaken": "set aside: others overtake it",
}


def _between(moves: Moves, situation: Situation, following: Situation) -> tuple[Move, Log]:
    for move, found, log in moves.after(situation):
        if found == following:
            return move, log
    for move, found, log in moves.timers(situation, moves.resting(situation)):
        if found == following:
            return move, log
    raise RuntimeError("the search took a move that there is not")


def _led(ways: dict[At, Way], pairs: list[Pair], number: int, place: int) -> dict[At, Way]:
    found: dict[At, Way] = {}
    for at, step, after in pairs:
        if at in ways and after not in found:
            found[after] = (ways[at], number, place, at, step) if step else ways[at]
    return found


def _closed(moves: Moves, part: int, ways: dict[At, Way], number: int) -> dict[At, Way]:
    todo = list(ways)
    for at in todo:
        for _, step, after in moves.unnoticed(part, at):
            if after not in ways:
                ways[after] = (ways[at], number, 1 << 30, at, step)
                todo.append(after)
    return ways


def _one_order(search: Search, ways: list[dict[At, Way]]) -> list[tuple[int, int, At, Step]]:
    """One order of all steps: by move, and within it the steps that belong to it before those that nobody notices."""
    outcome, found = search.outcome, []
    for part, known in enumerate(ways):
        ends = [at for at in known if (part, at[0]) in outcome.culprits] or sorted(
            known, key=lambda at: _length(known[at])
        )
        way, steps = known[ends[0]], []
        while way is not None:
            before, number, place, at, step = way
            steps.append((number, place, part, at, step))
            way = before
        found += [
            (number, place, order, part, at, step) for order, (number, place, part, at, step) in enumerate(steps[::-1])
        ]
    return [(number, part, at, step) for number, _, _, part, at, step in sorted(found, key=lambda one: one[:4])]


def _length(way: Way) -> int:
    length = 0
    while way is not None:
        way, length = way[0], length + 1
    return length


def _said(search: Search, packet: int) -> str:
    return search.world.say(search.moves.packets[packet][1][1])


def _sentence(search: Search, part: int, at: At, step: Step) -> str:
    """One step, in words."""
    kind, *given = step
    who = f"{'host' if part % 2 else 'NIC'} {part // 2}"
    if kind == "turn":
        turn = search.moves.seen(part, at).turns[given[0]]
        return f"{turn.part}: {turn.what}" + (f" {given[1]}" if len(given) > 1 else "")
    if kind == "packet":
        return f"{who} takes {search.world.say(given[0])}{', damaged' if given[1] else ''}"
    if kind == "interrupt":
        return f"{who}: the interrupt line goes {'up' if given[0] else 'down'}"
    verb = "a store reaches" if kind == "store" else "DMA brings to"
    return f"{verb} {who}, {given[0]:#x}: {given[1].hex(' ', 4)}"
