"""Mixed fuzz test of AM: requests, replies, PUTs and GETs of one program on all nodes over a reliable network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from firmware.am.nic.layout import ARGUMENTS, MOST, SLOTS
from firmware.layers import nic_program
from tb.fuzz import request_reply
from tb.fuzz.descriptor import Fuzz
from tb.fuzz.draw import Draw, nics
from tb.fuzz.program import Program, Value
from tb.fuzz.request_reply import BAD, Choice, Rules, acts
from tb.fuzz.world import World
from tb.studies.am.fuzz.memory import OFFSETS, STRETCHES, Remote

NIC = nics("am", often=3)
MISUSES = (*BAD, "put to nobody", "put of less than nothing", "get from an odd place", "an odd flag")


def stretch(draw: Draw) -> dict[str, int | str]:
    """Draw offsets and size of a PUT or GET."""
    values = {"at": draw.one_of(OFFSETS), "to_at": draw.one_of(OFFSETS), "bytes": draw.one_of(STRETCHES)}
    return {**values, "flag": draw.whole(0, 1)}


CHOICE = Choice(
    programs=1,
    words=ARGUMENTS,
    sizes=(0, 1, 4, 31, 32, 700, MOST - 1, MOST),
    bad=MISUSES,
    own={"put": stretch, "get": stretch, "get_back": stretch},
)


def program(draw: Draw) -> Program:
    """Draw a program."""
    nodes = draw.whole(2, 6)
    options: dict[str, Value] = {"unrestricted": draw.one_of((0, 1)), "receive": draw.one_of(("poll", "interrupt"))}
    return Program(nodes, draw.one_of(NIC), options, {}, acts(draw, nodes, CHOICE))


def held(layers: Sequence[Any]) -> list[str]:
    """Return descriptions of request slots that are still in use."""
    return [
        f"node {layer.me}: {SLOTS - len(free)} requests to node {node} are not answered"
        for layer in layers
        for node, free in layer.port._free.items()
        if len(free) != SLOTS
    ]


RULES = Rules("am", 6, ordered=True, held=held, process=Remote)


async def run(program: Program, world: World) -> list[str]:
    """Run a program and return its violations."""
    for nic in world.nics[: program.nodes]:
        view = world.view(nic.node, program.options)
        nic.spawn(nic_program("am")(nic, view), "firmware")
    return await request_reply.run(RULES, program, world)


FUZZ = Fuzz(program=program, run=run)
