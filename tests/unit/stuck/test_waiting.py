"""Waits and their cycles: declared waits are reported, satisfied ones are forgotten, and each cycle is found once.

Strategy: small graphs are drawn by hand, as wait-for edges, as reasons of futures and as declared waits of two NIC
programs on the pure-Python machine; the cycles found are compared as whole sentences. Random graphs are compared with a
search that tries every path. Graphs without a cycle, and waits with an unknown holder, must give none.
"""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from pymodels.kernel import Kernel
from pymodels.waiting import Wait, Waits, Wanted, cycles, unit_of


def edge(waiter: str, holder: str) -> Wait:
    return Wait(waiter, Wanted(f"what {holder} has", holder))


def told(found: list[tuple[Wait, ...]]) -> list[list[str]]:
    return [[str(wait) for wait in cycle] for cycle in found]


def test_a_cycle_of_two_starts_at_its_first_waiter() -> None:
    assert told(cycles([edge("b", "a"), edge("a", "b"), edge("c", "a")])) == [
        ["a waits for what b has, held by b", "b waits for what a has, held by a"]
    ]


def test_the_shortest_cycle_and_every_separate_one_are_reported() -> None:
    waits = [edge("a", "b"), edge("b", "c"), edge("c", "a"), edge("b", "a"), edge("x", "x")]
    assert [[wait.waiter for wait in cycle] for cycle in cycles(waits)] == [["a", "b"], ["c", "a", "b"], ["x"]]


def test_no_cycle_without_a_way_back_or_a_holder() -> None:
    assert cycles([edge("a", "b"), edge("b", "c"), Wait("c", Wanted("something"))]) == []


def test_tasks_belong_to_their_unit() -> None:
    waits = [Wait("NIC 0: send", Wanted("room", "NIC 1")), Wait("NIC 1: receive", Wanted("an answer", "NIC 0: send"))]
    assert len(cycles(waits)) == 1
    assert unit_of("NIC 0: send") == "NIC 0" == unit_of("NIC 0")


def test_the_holder_is_determined_at_the_time_of_the_query() -> None:
    waits = Waits()
    waits.want("NIC 0", "the outgoing link")
    assert [str(wait) for wait in waits.declared()] == ["NIC 0 waits for the outgoing link"]
    waits.hold("NIC 1", "the outgoing link")
    assert [str(wait) for wait in waits.declared()] == ["NIC 0 waits for the outgoing link, held by NIC 1"]
    waits.free("the outgoing link")
    waits.want("NIC 0", "room", "NIC 2")
    waits.got("NIC 0", "the outgoing link")
    waits.got("NIC 0", "what it never lacked")
    assert [str(wait) for wait in waits.declared()] == ["NIC 0 waits for room, held by NIC 2"]


def test_providers_of_waits_are_called_only_for_a_report() -> None:
    waits, owed = Waits(), ["an answer"]
    waits.register(lambda: [Wait("NIC 1", Wanted(what)) for what in owed])
    waits.want("NIC 0", "room")
    assert [str(wait) for wait in waits.declared()] == ["NIC 0 waits for room", "NIC 1 waits for an answer"]
    owed.clear()
    assert [wait.waiter for wait in waits.declared()] == ["NIC 0"]


def test_a_suspended_task_and_a_declared_want_close_a_cycle() -> None:
    kernel = Kernel()

    async def program() -> None:
        await kernel.sleep(1, Wanted("the card's queue"))

    kernel.waits.hold("host metz", "the card's queue")
    kernel.waits.want("host metz", "an answer", "NIC 0")
    kernel.spawn(program(), "NIC 0: program")
    kernel.run_ready()
    assert kernel.waiting() == [
        "NIC 0: program waits for the card's queue, held by host metz",
        "host metz waits for an answer, held by NIC 0",
    ]
    assert len(cycles(kernel.waits_held())) == 1
    kernel.run()
    assert cycles(kernel.waits_held()) == []


def lengths_by_trying(edges: set[tuple[int, int]], nodes: int) -> dict[int, int]:
    """Length of the shortest cycle through each node, by trying all orders of all nodes."""
    found: dict[int, int] = {}
    for count in range(1, nodes + 1):
        for path in itertools.permutations(range(nodes), count):
            if all(pair in edges for pair in zip(path, (*path[1:], path[0]), strict=True)):
                found.setdefault(path[0], count)
    return found


@given(st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=12))
def test_cycles_equal_those_of_an_exhaustive_search(edges: set[tuple[int, int]]) -> None:
    found = cycles([edge(str(a), str(b)) for a, b in sorted(edges)])
    lengths = lengths_by_trying(edges, 5)
    through = {wait.waiter: len(cycle) for cycle in reversed(found) for wait in cycle[:1]}
    assert {int(node) for cycle in found for node in (wait.waiter for wait in cycle)} == set(lengths)
    assert all(lengths[int(node)] == length for node, length in through.items())
    for cycle in found:
        assert all(a.wanted.holder == b.waiter for a, b in zip(cycle, (*cycle[1:], cycle[0]), strict=True))
