"""Small worlds of AM: requests and replies of two programs, with and without the rule, with polling and interrupts."""

from __future__ import annotations

from functools import partial
from typing import Any

from firmware.am.nic.program import Program
from tb.explore.requests import Choices, Request, Traffic, request_world
from tb.explore.world import SmallWorld
from tb.studies.am.explore.play import LEFT_OUT, AmPlay, Hasty, say

ONE, BACK, LONG = Request(0), Request(1), Request(0, b"four")
INTERRUPT: Choices = {"receive": "interrupt"}


def world(
    name: str,
    question: str,
    traffic: Traffic,
    options: Choices | None = None,
    fine: bool = False,
    computes: bool = False,
    firmware: type[Program] = Program,
    **further: Any,
) -> SmallWorld:
    """Return a small world of requests."""
    play = partial(AmPlay, traffic, fine, options or {}, computes, firmware)
    return request_world(name, question, traffic, play, say, LEFT_OUT, **further)


def worlds() -> list[SmallWorld]:
    """Return all small worlds of AM."""
    return [
        world("requests", "three requests: each once, in order, and answered", (ONE,) * 3),
        world("crossing", "a request each way: no deadlock", (ONE, BACK)),
        world("crossing-two", "two requests and one against them: no deadlock", (ONE, ONE, BACK)),
        world("payload", "a request with payload, and one without", (LONG, ONE)),
        world("fine", "one request, with a transition at the end of each step of software", (ONE,), fine=True),
        world(
            "interrupt", "two requests to a host that computes: both interrupt it", (ONE, ONE), INTERRUPT, computes=True
        ),
        world(
            "hasty",
            "the same with a NIC that tests for the interrupt too early: a request is missed",
            (ONE,),
            INTERRUPT,
            computes=True,
            firmware=Hasty,
            expects="at the end",
        ),
    ]
