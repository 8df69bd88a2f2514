"""Small worlds of SSAM: requests and replies of two programs over their kernels, on FIFO cards of cells."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from firmware.ssam.host import Ssam
from firmware.ssam.host.area import Area
from firmware.ssam.shown import cell_in_words
from pymodels.nics.fifo.kind import KIND
from tb.explore import cards
from tb.explore.cards import CardPlay, Server
from tb.explore.requests import Request, Traffic, request_world
from tb.explore.world import SmallWorld

ONE, BACK = Request(0), Request(1)
LONG = Request(0, b"longer than one cell has room for")
LEFT_OUT = (
    *cards.LEFT_OUT,
    *("SsamKernel.traps", "SsamKernel.inside_ps", "SsamKernel._sends", "SsamKernel.copied", "Port.polls"),  # count
    "Area.traced",  # describes
)


def world(
    name: str, question: str, traffic: Traffic, flaw: Callable[[], None] | None = None, **further: Any
) -> SmallWorld:
    """Return a small world of requests."""
    play = partial(CardPlay, Ssam, KIND.name, Server, traffic, {"requests": 1}, flaw)
    return request_world(name, question, traffic, play, cell_in_words, LEFT_OUT, serves=True, **further)


def worlds() -> list[SmallWorld]:
    """Return all small worlds of SSAM."""
    careless = "with a kernel that does not test whether a slot is free: a message is overwritten"
    return [
        world("requests", "two requests, one after the other: each once, in order, and answered", (ONE, ONE)),
        world("cells", "a request of two cells: whole, and answered", (LONG,)),
        world("crossing", "a request each way: no deadlock", (ONE, BACK)),
        world("crossing-cells", "a request each way, one of two cells: no deadlock", (LONG, BACK)),
        world("careless", f"a request each way, {careless}", (ONE, BACK), careless_, expects="host"),
    ]


def careless_() -> None:
    """Inject a fault: one receive slot, and a kernel that does not test whether it is free."""

    def room(area: Area) -> bool:
        area._receives = 1
        return True

    setattr(Area, "room", room)  # noqa: B010 - a flaw
