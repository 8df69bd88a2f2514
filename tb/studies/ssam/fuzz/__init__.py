"""Mixed fuzz test of SSAM: several programs under one kernel over a reliable network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pymodels.nics.fifo.kind import KIND
from tb.fuzz import request_reply
from tb.fuzz.descriptor import Fuzz
from tb.fuzz.draw import Draw
from tb.fuzz.program import Program
from tb.fuzz.request_reply import Process, Rules, acts
from tb.fuzz.world import World


def program(draw: Draw) -> Program:
    """Draw a program."""
    nodes = draw.whole(2, 6)
    options = {"requests": draw.one_of((4, 1, 2, 16))}
    return Program(nodes, KIND.name, options, {}, acts(draw, nodes))


def held(layers: Sequence[Any]) -> list[str]:
    """Return descriptions of lost cells and of kernel slots that are still in use."""
    kernels = [layer.kernel for layer in layers]
    lost = [f"node {kernel.me}: {kernel.lost_cells} cells were lost" for kernel in kernels if kernel.lost_cells]
    used = [
        f"node {kernel.me}: {kernel._slots - len(kernel._free)} slots of the kernel are not free"
        for kernel in kernels
        if len(kernel._free) != kernel._slots
    ]
    return [*lost, *used]


RULES = Rules("ssam", 6, ordered=True, held=held, process=Process)


async def run(program: Program, world: World) -> list[str]:
    """Run a program and return its violations."""
    return await request_reply.run(RULES, program, world)


FUZZ = Fuzz(program=program, run=run)
