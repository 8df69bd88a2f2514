"""Mixed fuzz test of HPAM: several programs, short quanta, time-outs, and a network with every kind of fault."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pymodels.nics.fifo.kind import KIND
from tb.fuzz import request_reply
from tb.fuzz.descriptor import Fuzz
from tb.fuzz.draw import Draw
from tb.fuzz.program import Program
from tb.fuzz.request_reply import Process, Rules, acts
from tb.fuzz.world import FAULTS, World


def program(draw: Draw) -> Program:
    """Draw a program."""
    nodes = draw.whole(2, 4)
    options = {
        "timeout_us": draw.one_of((500, 60, 150, 2000)),
        "quantum_us": draw.one_of((1000, 50, 200)),
        "queue": draw.one_of((32, 1, 3)),
    }
    rates = {name: draw.one_of((10, 60)) for name in FAULTS if draw.once_in(3)}
    faults = {**rates, "seed": draw.whole(0, 1 << 16)} if rates else {}
    return Program(nodes, KIND.name, options, faults, acts(draw, nodes))


def held(layers: Sequence[Any]) -> list[str]:
    """Return descriptions of requests and replies that programs still keep."""
    return [
        f"node {node}: requests of program {key} without a reply: {sorted(slots.requests)}"
        for node, layer in enumerate(layers)
        for key, slots in layer.daemon._slots.items()
        if slots.requests or slots.replies
    ]


RULES = Rules("hpam", 4, ordered=False, held=held, process=Process)


async def run(program: Program, world: World) -> list[str]:
    """Run a program and return its violations."""
    return await request_reply.run(RULES, program, world)


FUZZ = Fuzz(program=program, run=run)
