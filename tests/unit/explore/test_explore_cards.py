"""Model checking of worlds on cards without a processor: HPAM and SSAM.

Strategy: the search must find that HPAM never retransmits, although its hosts poll their cards for ever. A search state
by state must reach the same states as a search by sets. `test_explore_proofs` searches the smallest worlds, and those
with flaws.
"""

from __future__ import annotations

from typing import Any

import pytest

from firmware.hpam.host.slots import Slots
from tb.explore.run import chosen
from tests.unit.explore.test_explore import searched
from tests.unit.explore.test_explore_sound import both, states_of


def test_a_lost_request_without_retransmission_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Slots, "overdue", lambda slots, now: iter(()))
    (world,) = chosen("hpam", "lost")
    outcome, _ = searched(world)
    assert outcome.wrong == "livelock: no end is reachable from here"


def test_both_searches_reach_the_same_states_of_a_world_with_cards() -> None:
    (world,) = chosen("ssam", "cells")
    sets, single = both(world)
    for search in (sets, single):
        assert (search.outcome.wrong, search.outcome.exhausted) == ("", True)
    assert states_of(sets) == states_of(single)


def test_a_packet_is_described_in_words() -> None:
    texts: dict[str, Any] = {layer: chosen(layer, name)[0].say for layer, name in (("hpam", "lost"), ("ssam", "cells"))}
    assert texts["hpam"](bytes(20)) == "request 0 in slot 0"
    assert texts["ssam"](bytes(52)) == "an invalid cell"
