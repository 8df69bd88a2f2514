"""Small worlds of HPAM: requests and replies between two programs on FIFO cards, with single faults."""

from __future__ import annotations

from functools import partial
from typing import Any

from firmware.common.host.request_reply import Kind
from firmware.hpam.host import Hpam
from firmware.hpam.host.message import FORMAT, Header
from firmware.hpam.host.slots import Slots
from pymodels.nics.fifo.kind import KIND
from tb.explore.cards import CardPlay
from tb.explore.requests import DOUBLED, LATE, LOST, Request, Traffic, request_world
from tb.explore.world import SmallWorld
from tb.studies.hpam.explore.play import LEFT_OUT, PATIENCE_US, Patient

ONE, BACK = Request(0), Request(1)


def world(
    name: str,
    question: str,
    traffic: Traffic,
    duplicates: str = "drop",
    flaw: Any = None,
    **further: Any,
) -> SmallWorld:
    """Return a small world of requests."""
    options: dict[str, int | str] = {"timeout_us": PATIENCE_US, "queue": 1, "duplicates": duplicates}
    play = partial(CardPlay, Hpam, KIND.name, Patient, traffic, options, flaw)
    return request_world(name, question, traffic, play, say, LEFT_OUT, serves=True, **further)


def worlds() -> list[SmallWorld]:
    """Return all small worlds of HPAM."""
    twice = "a request whose reply is lost is executed twice"
    return [
        world("requests", "two requests: each once, in order, and answered", (ONE, ONE)),
        world("crossing", "a request each way: no deadlock", (ONE, BACK)),
        world("early", "a request that is retransmitted too early: executed once", (ONE,), early=1, room=1),
        world("lost", "one packet is damaged or lost; a request: once, and answered", (ONE,), **LOST),
        world(
            "lost-of-two", "one packet is damaged or lost; two requests: once each, and answered", (ONE,) * 2, **LOST
        ),
        world("doubled", "one packet is duplicated; two requests: once each, and answered", (ONE, ONE), **DOUBLED),
        world("overtaken", "one packet is overtaken; two requests: once each, and answered", (ONE, ONE), **LATE),
        world("executes", f"as paper 002 says: {twice}", (ONE,), "execute", expects="should have", **LOST),
        world(
            "forgetful",
            "with a receiver that treats every request as new: a duplicated request runs twice",
            (ONE,),
            flaw=forgetful,
            expects="should have",
            **DOUBLED,
        ),
    ]


def forgetful() -> None:
    """Inject a fault: a receiver that treats every request as new."""

    def new(slots: Slots, node: int, slot: int, sequence: int) -> bool:
        return True

    setattr(Slots, "new", new)  # noqa: B010 - a flaw


def say(packet: bytes) -> str:
    """Return a description of a packet."""
    header = Header.decode(packet[: FORMAT.size])
    return f"{Kind(header.kind).label} {header.sequence} in slot {header.slot}"
