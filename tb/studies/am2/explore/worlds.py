"""Small worlds of AM-II: requests and replies between two endpoints, and single faults."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from firmware.am2.nic.incoming import Incoming
from firmware.am2.nic.words import Second
from tb.explore.requests import DOUBLED, LATE, LOST, Request, Traffic, request_world
from tb.explore.world import SmallWorld
from tb.studies.am2.explore.play import LEFT_OUT, Am2Play

ONE, BACK, LONG = Request(0), Request(1), Request(0, b"eight by")


def world(
    name: str, question: str, traffic: Traffic, flaw: Callable[[], None] | None = None, **further: Any
) -> SmallWorld:
    """Return a world of requests."""
    return request_world(
        name, question, traffic, partial(Am2Play, traffic, flaw), describe, LEFT_OUT, serves=True, **further
    )


def worlds() -> list[SmallWorld]:
    """Return all worlds."""
    once = "once, and answered"
    return [
        world("request", f"a request: {once}", (ONE,)),
        world("requests", "two requests: each once, in order, and answered", (ONE, ONE)),
        world("medium", "a request with payload: once, whole, and answered", (LONG,)),
        world("crossing", "a request each way: no deadlock", (ONE, BACK)),
        world("early", f"a message that is sent again too early: {once}", (ONE,), early=1),
        world("lost", f"one packet is damaged or lost; a request: {once}", (ONE,), **LOST),
        world("doubled", f"one packet is doubled; a request: {once}", (ONE,), **DOUBLED),
        world("overtaken", f"one packet is overtaken; two requests: {once}", (ONE, ONE), **LATE),
        world(
            "forgetful",
            "with a NIC that takes every message for a new one: one that is doubled is handled twice",
            (ONE,),
            forgetful,
            expects="should have",
            **DOUBLED,
        ),
    ]


def forgetful() -> None:
    """Break the firmware: forget all received messages, so that duplicates are accepted."""
    message = Incoming._message

    async def anew(self: Incoming, source: int, name: int, second: Second, heard: Any, behind: int) -> None:
        heard.sequence = second.sequence - 1
        await message(self, source, name, second, heard, behind)

    setattr(Incoming, "_message", anew)  # noqa: B010 - a flaw


def describe(packet: bytes) -> str:
    """Return a description of a packet."""
    second = Second.decode(int.from_bytes(packet[4:8], "big"))
    what = "an answer to" if second.control else "a message with"
    return f"{what} number {second.sequence} of channel {second.channel}"
