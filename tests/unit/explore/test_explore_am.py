"""Model checking of AM's small worlds.

Strategy: two worlds are searched completely, and one with a NIC that checks too early whether to interrupt, whose flaw
must be found. Records that lack, duplicate or reorder a message must violate the rules. `make explore LAYER=am`
searches all worlds.
"""

from __future__ import annotations

from typing import Any

import pytest

from tb.explore.requests import Request, Rules
from tb.explore.run import chosen, verdict
from tests.unit.explore.test_explore import searched

HERE, THERE = ("answer", 0, b""), ("request", 1, b"")


@pytest.mark.parametrize(("name", "states"), [("fine", 20_514), ("crossing", 4_807)])
def test_a_world_is_proved_in_every_state(name: str, states: int) -> None:
    (world,) = chosen("am", name)
    outcome, _ = searched(world)
    assert (verdict(outcome), outcome.states) == ("proved", states)


def test_a_request_that_is_forgotten_is_found() -> None:
    (world,) = chosen("am", "hasty")
    outcome, _ = searched(world)
    assert verdict(outcome) == "found, as it must"
    assert "host 0 lacks 1 messages" in outcome.wrong


@pytest.mark.parametrize(
    ("record", "found"),
    [
        ((), ""),
        ((HERE, THERE), ""),
        ((THERE, THERE), "host 0 has"),
        ((("answer", 1, b""),), "host 0 has"),
        ((("request", 1, b"x"),), "host 0 has"),
    ],
)
def test_received_requests_must_be_a_prefix_of_those_sent(record: Any, found: str) -> None:
    rules = Rules((Request(0), Request(1)))
    said = rules.always(0, record)
    assert found in said
    assert bool(said) is bool(found)


@pytest.mark.parametrize(("record", "found"), [((HERE, THERE), ""), ((HERE,), "host 0 lacks 1 messages")])
def test_at_the_end_all_messages_must_have_arrived(record: Any, found: str) -> None:
    assert Rules((Request(0), Request(1))).at_end(0, record) == found
