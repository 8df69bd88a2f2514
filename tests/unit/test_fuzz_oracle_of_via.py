"""What the fuzz of VIA asks for is what the specification promises, and no more; and what it does goes where it should.
Strategy: small programs, written by hand, whose right end is easily taken for a wrong one.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from firmware.nic.via.refill import Refill
from tb.fuzz import trial
from tb.fuzz.layers.via.link import Link
from tb.fuzz.program import Act, Program, Value

LINK: Mapping[str, Value] = {
    "first": 0,
    "second": 1,
    "process": 0,
    "hostile": 0,
    "role": "client",
    "queues": 0,
    "most": 0,
}
MESSAGE: Mapping[str, Value] = {"side": 0, "bytes": 64, "pieces": 1, "parts": 1, "extra": 0, "immediate": 0}


def failures(level: str, faults: Mapping[str, int], options: Mapping[str, Value], *acts: Act) -> tuple[str, ...]:
    """What is wrong with acts of one connection."""
    link = Act(0, "connection", {**LINK, "level": level}, who="link")
    return trial.on_machine("via", Program(2, "lanai9", options, faults, (link, *acts))).failures


def test_memory_of_a_lost_send_without_a_limit_of_time_is_free_when_its_connection_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ends: list[int] = []
    part = Link.part

    async def parted(self: Link, load: int) -> None:
        ends.append(load)
        await part(self, load)

    monkeypatch.setattr(Link, "part", parted)
    act = Act(0, "register", {"side": 0, "bytes": 4000}, who="link")
    assert failures("delivery", {"loss": 60, "seed": 3}, {"timeout_us": 0}, act) == ()
    assert ends, "the send was not lost"


@pytest.mark.parametrize("seed", [1, 3])
def test_packets_of_a_lost_message_may_stand_behind_the_next_one(seed: int) -> None:
    """Both take the same receive, the longer one first."""
    acts = (
        Act(0, "message", {**MESSAGE, "bytes": 9000}, who="link"),
        Act(0, "message", MESSAGE, who="link"),
    )
    assert failures("unreliable", {"loss": 60, "seed": seed}, {}, *acts) == ()


def test_a_burst_runs_queue_caches_low(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    ask = Refill._ask

    async def note(self: Refill, flag: int) -> None:
        asked.append(flag)
        await ask(self, flag)

    monkeypatch.setattr(Refill, "_ask", note)
    act = Act(0, "burst", {"side": 0, "bytes": 1000, "many": 40}, who="link")
    assert failures("unreliable", {}, {"receive_words": 64}, act) == ()
    assert asked
