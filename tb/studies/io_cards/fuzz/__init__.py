"""Mixed fuzz test of an I/O card: three hosts read and write the disk that it serves, and use all of GRIM's operations.

Each host has blocks that only it writes, and reads those of all. Meanwhile the driver resets the card, and in a third
of the programs the card loses its power. The test runs on the RTL only: the machine has no cards.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from firmware.grim.formats.iocard import ANSWER
from pymodels.profiles import DEFAULT_KIND
from tb.fuzz.descriptor import Fuzz
from tb.fuzz.draw import Draw
from tb.fuzz.program import Act, Program, Value
from tb.fuzz.world import World
from tb.studies.grim import fuzz as grim
from tb.studies.grim.fuzz import acts
from tb.studies.grim.fuzz.cluster import Cluster
from tb.studies.grim.fuzz.with_cards import CHANNELS, NOT_HERE, NOT_WITH_CARDS, QUEUES
from tb.studies.io_cards.fuzz.disk_acts import BLOCK, BLOCKS, INVALID, SERVER, DiskActs, Server

NODES = 3
SEGMENT = BLOCK
"""Smallest option segment_bytes of a program: a request moves at most one segment."""
DISK_ACTS: Mapping[str, tuple[str, ...]] = {
    "disk read": ("block", "count"),
    "disk write": ("block", "offset", "count"),
    "disk row": ("block", "offset", "count"),
    "disk reset": (),
}
HARMLESS: Mapping[str, tuple[str, ...]] = {"disk invalid": ("what",), "disk no service": ()}
"""Further acts of programs without losses of power, with their random parameters."""
POWER: Mapping[str, tuple[str, ...]] = {"disk power": ("us", "down")}
"""Further acts of programs with losses of power."""
NUMBERS = {"block": (0, BLOCKS - 1), "offset": (0, 8000), "count": (1, BLOCK), "us": (1, 300), "down": (0, 1500)}
OFTEN = 2
"""Inverse share of the acts that concern the disk."""
OF_SERVER = frozenset({"disk reset", "disk power"})


def program(draw: Draw) -> Program:
    """Return a random program."""
    faults = acts.faults(draw)
    drawn = acts.options(draw, NODES, DEFAULT_KIND, acts.LOSSY if faults else {})
    options: dict[str, Value] = {name: value for name, value in drawn.items() if name not in NOT_WITH_CARDS}
    options["channels"] = draw.one_of(CHANNELS)
    options["card_queue_bytes"] = draw.one_of(QUEUES)
    segment = options.get("segment_bytes", SEGMENT)
    if isinstance(segment, int) and segment < SEGMENT:
        del options["segment_bytes"]
    kinds = {**DISK_ACTS, **(POWER if draw.once_in(3) else HARMLESS)}
    found = tuple(draw.items(partial(_act, options=options, kinds=kinds), 12, 25))
    return Program(NODES, DEFAULT_KIND, options, faults, found)


def _act(draw: Draw, options: Mapping[str, Value], kinds: Mapping[str, tuple[str, ...]]) -> Act:
    if not draw.once_in(OFTEN):
        found = acts.act(draw, NODES, options)
        return found if found.name not in NOT_HERE else Act(found.node, "poll")
    node, name = draw.whole(0, NODES - 1), draw.one_of(tuple(kinds))
    values: dict[str, Value] = {}
    for one in kinds[name]:
        values[one] = draw.one_of(tuple(INVALID)) if one == "what" else draw.whole(*NUMBERS[one])
    return Act(SERVER if name in OF_SERVER else node, name, values)


class DiskCluster(Cluster):
    """Cluster with a disk."""

    def __init__(self, program: Program, world: World, folder: Path) -> None:
        super().__init__(program, world)
        self.server = Server(world.card_processor(SERVER), folder / "disk")
        self.clients: list[DiskActs] = []

    def missing(self) -> Iterator[str]:
        """See `Cluster`."""
        yield from super().missing()
        yield from self.server.disk.missing()
        for client in self.clients:
            yield from client.missing()


class Application(grim.Application):
    """Node whose acts also concern the disk."""

    def __init__(self, cluster: DiskCluster, index: int) -> None:
        super().__init__(cluster, index)
        self.disk = DiskActs(self.node, self.transfers, cluster.server, lambda: cluster.world.kernel.now)
        cluster.clients.append(self.disk)
        self.parts += (self.disk,)

    def publish(self) -> None:
        """See `grim.Application`."""
        super().publish()
        self.node.library.register_handler(self.disk.handler(), ANSWER)

    async def settle_in(self) -> None:
        """See `grim.Application`."""
        await super().settle_in()
        await self.disk.begin()

    def wrong(self) -> list[str]:
        """See `grim.Application`."""
        return [*super().wrong(), *self.disk.wrong()]


async def run(program: Program, world: World) -> list[str]:
    """Run a program and return a description of each error."""
    made: list[DiskCluster] = []
    with tempfile.TemporaryDirectory() as folder:

        def cluster(program: Program, world: World) -> DiskCluster:
            made.append(DiskCluster(program, world, Path(folder)))
            return made[0]

        wrong = await grim.run(program, world, cluster, Application)
        for one in made:
            wrong += one.server.disk.errors(one.server.blocks())
    return wrong


FUZZ = Fuzz(program=program, run=run, stands_on=("grim",), places=("rtl",), cluster="io_card")
