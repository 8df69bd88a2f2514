"""Mixed fuzz test of MPI: random programs of `mpi_matching` over each layer below, which can be shrunk to any part.

Receives and probes are compared with a sequential reference, collectives with their expected results. Over Pipes and
LAPI the network of an SP board injects every kind of fault. On the RTL the study itself runs such programs.
"""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from dataclasses import asdict, fields
from typing import Any

from pymodels.profiles import DEFAULT_KIND
from tb.fuzz.descriptor import Fuzz
from tb.fuzz.draw import Draw
from tb.fuzz.program import Act, Program
from tb.fuzz.stacked import CHIPS, NIC, NODES, disturb, faults, start
from tb.fuzz.world import World
from tb.studies.mpi._mpi_items import Item, drawn
from tb.studies.mpi._mpi_random import RandomProgram

STANDS_ON = ("mpi", "grim", "via", "pipes", "lapi")
ON_SP = STANDS_ON[3:]
EAGER_LIMITS = (4096, 1, 300, 20_000)
VERSIONS = ("enhanced", "counters", "base")
DEFAULTS = {field.name: field.default for field in fields(Item)}


def program(draw: Draw) -> Program:
    """Draw a program."""
    nodes, on = draw.whole(2, NODES), draw.one_of(STANDS_ON[1:])
    options: dict[str, int | str] = {"on": on, "eager_limit": draw.one_of(EAGER_LIMITS)}
    if on == "lapi":
        options["version"] = draw.one_of(VERSIONS)
    if on not in ON_SP:
        return Program(nodes, DEFAULT_KIND, options, {}, _acts(draw, nodes))
    options[f"{on}.timeout_us"] = draw.one_of((200, 1000))
    return Program(nodes, NIC, options, faults(draw), _acts(draw, nodes), chips=CHIPS)


def _acts(draw: Draw, nodes: int) -> tuple[Act, ...]:
    """Return the items, each as an action of its first rank."""

    def act(one: Draw) -> Act:
        values = asdict(drawn(one, nodes))
        kind, first = values.pop("kind"), values.pop("first")
        return Act(first, kind, {name: value for name, value in values.items() if value != DEFAULTS[name]})

    return tuple(draw.items(act, 30, 80))


async def run(program: Program, world: World) -> list[str]:
    """Run a program and return its violations."""
    values: list[dict[str, Any]] = [dict(act.values) for act in program.acts]
    items = [Item(act.name, first=act.node, **more) for act, more in zip(program.acts, values, strict=True)]
    ranks, all_do = start("mpi", program, world), RandomProgram(items, program.nodes)

    async def rank(number: int, mpi: Any) -> None:
        await all_do.run(mpi, number)
        await mpi.Finalize()

    await _all(world, [mpi.Init() for mpi in ranks])
    disturb(program, world)
    await _all(world, [rank(number, mpi) for number, mpi in enumerate(ranks)])
    return all_do.wrong()


async def _all(world: World, parts: Sequence[Coroutine[Any, Any, None]]) -> None:
    """Run the parts of all ranks concurrently."""
    tasks = [world.kernel.spawn(part, f"rank {number}") for number, part in enumerate(parts)]
    for task in tasks:
        await task.finished


FUZZ = Fuzz(program=program, run=run, stands_on=STANDS_ON, places=("machine",), pauses=False)
