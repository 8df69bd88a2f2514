"""Mixed fuzz test of AM-II: paged endpoints, bulk data, returned messages, on a network with all packet faults."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from firmware.layers import nic_program
from tb.fuzz import request_reply
from tb.fuzz.descriptor import Fuzz
from tb.fuzz.draw import Draw, fit, nics
from tb.fuzz.program import Program, Value
from tb.fuzz.request_reply import Choice, Rules, acts
from tb.fuzz.world import FAULTS, World
from tb.studies.am2.fuzz.ends import EndpointProcess
from tb.studies.am2.fuzz.port import REASONS
from tb.studies.am2.fuzz.segment import OFFSETS, SIZES

NIC = nics("am2", often=3)
MISUSES = (
    "entry",
    "words",
    "word",
    "long",
    "handler",
    "nobody",
    "tag",
    "offset",
    "own place",
    "weight",
    "freed",
    "mask",
)


def stretch(draw: Draw) -> dict[str, int | str]:
    """Return random source, target and size of bulk data."""
    return {"at": draw.one_of(OFFSETS), "to_at": draw.one_of(OFFSETS), "bytes": draw.one_of(SIZES)}


def back(draw: Draw) -> dict[str, int | str]:
    """Return a random reason to return a message."""
    return {"why": draw.one_of(tuple(REASONS)), "bytes": draw.one_of((0, 4, 300))}


def weight(draw: Draw) -> dict[str, int | str]:
    """Return the random weight of a further endpoint."""
    return {"weight": draw.one_of((1, 2, 7))}


def nothing(draw: Draw) -> dict[str, int | str]:
    """Return no parameters."""
    return {}


def mask(draw: Draw) -> dict[str, int | str]:
    """Return a random choice of sleeping or spinning waits."""
    return {"sleeps": draw.whole(0, 1)}


CHOICE = Choice(
    sizes=(0, 1, 4, 300, 511, 512, 1200, 4097),
    bad=MISUSES,
    own={
        "put": stretch,
        "get": stretch,
        "back": back,
        "rejected": nothing,
        "more": weight,
        "less": nothing,
        "drop": nothing,
        "retag": nothing,
        "move": nothing,
        "sleep": mask,
    },
)


def program(draw: Draw) -> Program:
    """Return a random program."""
    nodes, nic = draw.whole(2, 4), draw.one_of(NIC)
    options: dict[str, Value] = {
        "frames": draw.one_of((8, 1, 2, 3)),
        "channels": draw.one_of((32, 1, 2, 4)),
        "timeout_us": draw.one_of((300, 60, 120, 1000)),
        "credits": draw.one_of((4, 1, 2, 16)),
        "medium": draw.one_of((8192, 512, 1024)),
        "full": draw.one_of(("silent", "nack")),
        "replace": draw.one_of(("clock", "random", "lru")),
    }
    while not fit("am2", options, nodes, nic):
        options["frames"] = int(options["frames"]) - 1
    rates = {name: draw.one_of((10, 60)) for name in FAULTS if draw.once_in(3)}
    faults = {**rates, "seed": draw.whole(0, 1 << 16)} if rates else {}
    return Program(nodes, nic, options, faults, acts(draw, nodes, CHOICE))


def held(layers: Sequence[Any]) -> list[str]:
    """Return a description of each endpoint and frame that was not released."""
    kept = [(layer.me, sorted(layer._driver._granted), layer.pager._frames) for layer in layers]
    return [f"node {me}: endpoints {there} were not freed" for me, there, frames in kept if there or any(frames)]


RULES = Rules("am2", 4, ordered=False, held=held, process=EndpointProcess)


async def run(program: Program, world: World) -> list[str]:
    """Run a program and return a description of each error."""
    for nic in world.nics[: program.nodes]:
        view = world.view(nic.node, program.options)
        nic.spawn(nic_program("am2")(nic, view), "firmware")
    return await request_reply.run(RULES, program, world)


FUZZ = Fuzz(program=program, run=run)
