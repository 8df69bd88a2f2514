"""Mixed fuzz test of FPGA cards.

Two hosts with a card each use all of GRIM's operations and send messages through circuits of both cards. An image has
its circuits in SystemVerilog or in Python. Meanwhile the hosts load images, also damaged ones, and stop shells. They
move bytes into their own cards, and write and read the other card's window remotely. Circuits write there, too. The
test runs on the RTL only: the machine has no cards, and a second model of the shell would not test the existing one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from firmware.view import ClusterView
from pymodels.profiles import DEFAULT_KIND
from tb.fuzz.descriptor import Fuzz
from tb.fuzz.draw import Draw
from tb.fuzz.program import Act, Program, Value
from tb.fuzz.world import World
from tb.studies.cards.fuzz import connections
from tb.studies.cards.fuzz.acts import RESULT, WRONG, CardActs
from tb.studies.cards.fuzz.connections import Viewer
from tb.studies.cards.fuzz.images import BYTES, DAMAGES, SLOT_BYTES, Images
from tb.studies.cards.fuzz.injection import LONGEST, Injection
from tb.studies.cards.fuzz.injection import WRONG as TRANSFERS
from tb.studies.cards.fuzz.issued import Issued
from tb.studies.cards.fuzz.ledger import Ledger
from tb.studies.cards.fuzz.multicasts import Copies, Multicasts
from tb.studies.cards.fuzz.outages import Outages
from tb.studies.cards.fuzz.reads import Reads
from tb.studies.cards.fuzz.streams import Streams
from tb.studies.cards.fuzz.windows import BESIDE, Windows
from tb.studies.grim import fuzz as grim
from tb.studies.grim.fuzz import acts
from tb.studies.grim.fuzz.cluster import Cluster
from tb.studies.grim.fuzz.with_cards import CHANNELS, NOT_HERE, NOT_WITH_CARDS, QUEUES

NODES = 2
HOLDS = (100_000, 1_000_000)
"""Times in us, longer than any program lets a long message to a card wait for its next segment."""
REFUSED: tuple[Mapping[str, Value], ...] = (
    {"channels": 1},
    {"queue_style": "slotted"},
    {"sequencing": "per-ni"},
    {"card_queue_bytes": 1024, "segment_bytes": 4096},
)
"""Options that are invalid if a host has a card."""
CARD_ACTS: Mapping[str, tuple[str, ...]] = {
    "card send": ("to", "circuit", "argument", "bytes"),
    "card burst": ("to", "circuit", "argument", "bytes"),
    "card forward": ("to", "at", "circuit", "mode"),
    "card loopback": ("to", "channel", "argument", "bytes"),
    "card load": ("image", "part", "way"),
    "card bad image": ("image", "part", "damage", "way"),
    "card slots": (),
    "card together": ("to", "segments", "bytes"),
    "card cast": ("argument", "bytes", "channel"),
    "card root": ("offset", "bytes"),
    "card read": ("to", "skew", "offset", "bytes"),
    "card process": ("to", "argument", "bytes"),
    "card pause": ("us",),
    "card no circuit": ("to",),
    "card misuse": ("what",),
    "card inject": ("bytes", "offset", "skew", "way"),
    "card inject wrongly": ("transfer", "way"),
    "card store": ("offset", "bytes", "skew", "channel"),
    "card fetch": ("offset", "bytes", "channel"),
    "card beside": ("beside", "channel"),
    "card issue": ("offset", "bytes"),
}
"""Random parameters of each act, by its name."""
POWER_ACTS: Mapping[str, tuple[str, ...]] = {
    "card power": ("us", "down"),
    **{
        name: CARD_ACTS[name]
        for name in (
            *("card send", "card burst", "card forward", "card loopback", "card load", "card bad image"),
            *("card together", "card cast", "card store"),
        )
    },
}
"""Acts of programs in which cards lose their power, with their random parameters."""
WORDS: Mapping[str, tuple[str, ...]] = {
    "mode": ("REPLY", "ENDPOINT", "NOWHERE"),
    "what": tuple(WRONG),
    "damage": tuple(DAMAGES),
    "transfer": tuple(TRANSFERS),
    "beside": tuple(BESIDE),
}
NUMBERS = {
    "circuit": (0, 3),
    "argument": (0, 2),
    "image": (0, 3),
    "bytes": (0, LONGEST),
    "offset": (0, 200),
    "skew": (0, 1),
    "way": (0, 4),
    "part": (0, 3),
    "segments": (0, 3),
    "us": (1, 300),
    "down": (0, 1500),
}
OWN_BYTES = frozenset({"card inject", "card store", "card fetch", "card issue", "card root", "card read"})
"""Acts whose bytes are drawn from `NUMBERS`; others have those of GRIM's messages."""
OFTEN = 2
"""Inverse share of the acts that concern a card."""


def program(draw: Draw) -> Program:
    """Return a random program."""
    faults = acts.faults(draw)
    drawn = acts.options(draw, NODES, DEFAULT_KIND, acts.LOSSY if faults else {})
    options: dict[str, Value] = {name: value for name, value in drawn.items() if name not in NOT_WITH_CARDS}
    options["channels"] = draw.one_of(CHANNELS)
    options["card_queue_bytes"] = draw.one_of(QUEUES)
    options["card_hold_us"] = draw.one_of(HOLDS)
    asked = connections.drawn(draw, NODES, int(options["channels"])) if draw.once_in(2) else {}
    kinds = POWER_ACTS if draw.once_in(4) else CARD_ACTS
    found = tuple(draw.items(partial(_act, options=options, kinds=kinds), 12, 25))
    if draw.once_in(40):
        options |= draw.one_of(REFUSED)
    return Program(NODES, DEFAULT_KIND, options, faults, found, asked)


def _act(draw: Draw, options: Mapping[str, Value], kinds: Mapping[str, tuple[str, ...]]) -> Act:
    if not draw.once_in(OFTEN):
        found = acts.act(draw, NODES, options)
        return found if found.name not in NOT_HERE else Act(found.node, "poll")
    node, name = draw.whole(0, NODES - 1), draw.one_of(tuple(kinds))
    return Act(node, name, {value: _value(draw, name, value, options) for value in kinds[name]})


def _value(draw: Draw, name: str, value: str, options: Mapping[str, Value]) -> Value:
    if value in WORDS:
        return draw.one_of(WORDS[value])
    if value in NUMBERS and (value != "bytes" or name in OWN_BYTES):
        return draw.whole(*NUMBERS[value])
    return acts.value(draw, value, NODES, options)


class CardCluster(Cluster):
    """Cluster whose cards receive messages."""

    def __init__(self, program: Program, world: World) -> None:
        super().__init__(program, world)
        self.jobs = Ledger(program.nodes)
        self.issued: list[Issued] = []
        self.copies = Copies()
        self.cards: list[CardActs] = []
        self.windows: list[Windows] = []

    def view(self, node: int) -> ClusterView:
        """See `Cluster`: the configuration connects channels."""
        return connections.connected(super().view(node), self.program.asked, self.program.nodes)

    def missing(self) -> Iterator[str]:
        """See `Cluster`."""
        yield from super().missing()
        yield from self.jobs.missing()
        yield from self.copies.missing()
        for one in self.issued:
            yield from one.missing()


class Application(grim.Application):
    """Node whose acts also concern cards."""

    def __init__(self, cluster: CardCluster, index: int) -> None:
        super().__init__(cluster, index)
        world = cluster.world
        self.cards = CardActs(self.node, cluster.jobs, lambda: world.kernel.now)
        card: Any = self.node.library.card
        self.images = Images(self.node, cluster.jobs, card.circuit_file, lambda: world.kernel.now)
        outages = cluster.jobs.outages
        self.injection = Injection(self.node, world.card_memory(index), outages[index])
        memories = [world.card_memory(node) for node in range(NODES)]
        self.windows = Windows(self.node, self.transfers, memories, outages, lambda: world.kernel.now)
        self.all_windows = cluster.windows
        self.issued = Issued(self.node, self.cards, self.windows, world.card_memory)
        cluster.issued.append(self.issued)
        self.streams = Streams(self.node, cluster.cards)
        self.multicasts = Multicasts(self.node, self.cards, cluster.copies, lambda: world.kernel.now)
        self.reads = Reads(self.node, self.cards, self._into, world.card_memory)
        cluster.cards.append(self.cards)
        cluster.windows.append(self.windows)
        self.parts += (self.cards, self.images, self.injection, self.windows, self.issued)
        self.viewer = Viewer(self.node, self.cards, lambda: world.kernel.now)
        self.outages = Outages(self.node, self.images, lambda: world.kernel.now, cluster.cards, cluster.windows)
        self.parts += (self.streams, self.multicasts, self.reads, self.viewer, self.outages)

    def _into(self, card: int) -> Windows:
        """Return the acts on the window of a card."""
        return self.all_windows[card - 1]

    def publish(self) -> None:
        """See `grim.Application`."""
        super().publish()
        self.node.library.register_handler(self.cards.handler(), RESULT)
        self.multicasts.publish()
        self.viewer.publish()

    async def settle_in(self) -> None:
        """See `grim.Application`."""
        await super().settle_in()
        await self.cards.begin()
        await self.windows.begin()
        await self.multicasts.begin()
        await self.viewer.begin()
        self.host.spawn(self.images.drive(lambda: self.cluster.over), f"driver of card {self.index}")

    def wrong(self) -> list[str]:
        """See `grim.Application`."""
        return [*super().wrong(), *self.injection.wrong(), *self.windows.wrong(), *self.outages.wrong()]


async def run(program: Program, world: World) -> list[str]:
    """Run a program and return a description of each error."""
    made: list[CardCluster] = []

    def cluster(program: Program, world: World) -> CardCluster:
        made.append(CardCluster(program, world))
        return made[0]

    wrong = await grim.run(program, world, cluster, Application)
    return [*wrong, *made[0].jobs.wrong(), *made[0].copies.wrong] if made else wrong


FUZZ = Fuzz(
    program=program,
    run=run,
    stands_on=("grim", "tpil"),
    places=("rtl",),
    cluster="python_cards",
    settings=f"fpga.image_bytes={BYTES} fpga.slot_bytes={SLOT_BYTES}",
)
