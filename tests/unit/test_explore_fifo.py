"""Small worlds of HPAM and SSAM, on FIFO cards, and of AM-II are exhausted, and what is broken is found.

Strategy: of each layer its smallest world is searched whole, with a packet lost where the layer sends again, and one
whose software has a flaw, which must be found, as must HPAM that sends nothing again. State by state, a world with
cards comes into the same states as by sets. `make explore LAYER=hpam` (ssam, am2) searches all.
"""

from __future__ import annotations

from typing import Any

import pytest

from firmware.host.hpam.slots import Slots
from tb.explore.run import chosen, verdict
from tests.unit.test_explore import searched
from tests.unit.test_explore_sound import both, states_of


@pytest.mark.parametrize(
    ("layer", "name", "states"), [("hpam", "lost", 826), ("ssam", "cells", 472), ("am2", "request", 1_407)]
)
def test_a_world_is_proved_in_every_state(layer: str, name: str, states: int) -> None:
    (world,) = chosen(layer, name)
    outcome, _ = searched(world)
    assert (verdict(outcome), outcome.states) == ("proved", states)


@pytest.mark.parametrize(
    ("layer", "name", "wrong"),
    [
        ("hpam", "executes", "host 1 has [('request', 0, b''), ('request', 0, b'')]"),
        ("ssam", "careless", "host 0 has [('answer', 0, b''), ('answer', 0, b'')]"),
        ("am2", "forgetful", "host 1 has [('request', 0, b''), ('request', 0, b'')]"),
    ],
)
def test_a_flaw_is_found(layer: str, name: str, wrong: str) -> None:
    (world,) = chosen(layer, name)
    outcome, _ = searched(world)
    assert verdict(outcome) == "found, as it must"
    assert outcome.wrong.startswith(wrong)


def test_a_request_that_is_lost_and_not_sent_again_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Slots, "overdue", lambda slots, now: iter(()))
    (world,) = chosen("hpam", "lost")
    outcome, _ = searched(world)
    assert outcome.wrong == "from here on there is no way to an end: it goes round for ever"


def test_both_searches_come_into_the_same_states_of_a_world_with_cards() -> None:
    (world,) = chosen("ssam", "cells")
    sets, single = both(world)
    for search in (sets, single):
        assert (search.outcome.wrong, search.outcome.exhausted) == ("", True)
    assert states_of(sets) == states_of(single)


def test_a_packet_is_told_in_words() -> None:
    told: dict[str, Any] = {layer: chosen(layer, name)[0].say for layer, name in (("hpam", "lost"), ("ssam", "cells"))}
    assert told["hpam"](bytes(20)) == "request 0 in slot 0"
    assert told["ssam"](bytes(52)) == "a cell that nobody takes"
