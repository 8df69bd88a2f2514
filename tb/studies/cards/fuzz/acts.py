"""Acts of a node on cards: messages through circuits, images, pauses, invalid calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from firmware.grim.formats import MAX_SEND, Device, Reference
from firmware.grim.host import Grim
from pymodels.card.circuits import CIRCUITS
from pymodels.card.registers import Forward
from tb.fuzz.program import Act
from tb.studies.cards.fuzz.circuits import Job
from tb.studies.cards.fuzz.ledger import Ledger
from tb.studies.grim.fuzz.mail import Place
from tb.studies.grim.fuzz.misuse import Misuse
from tb.studies.grim.fuzz.node import CHECK, MASK, Node

SHARED = "loopback"
"""Stateless circuit that returns its input to the sender; all nodes use it on all cards."""
OWNED = tuple(name for name in CIRCUITS if name != SHARED)
"""Circuits of which each instance belongs to one node, so that only its messages determine the results."""
RESULT = "result"
"""Name of the handler that receives results."""
BURST = 10

Misuses = Mapping[str, Misuse]


def _card(to: int) -> int:
    """Return the card of the node that a reference names."""
    return Reference(to >> 24, Device.CELOXICA, 0).pack()


def _channel(grim: Grim, node: int) -> int:
    """Return the channel of a node's card."""
    return grim.nodes.channels(node).card


WRONG: Misuses = {
    "no such circuit": Misuse(
        "circuit", lambda grim, to, handler, block: grim.forward(_card(to), "crc33", Forward.REPLY)
    ),
    "circuit of a number": Misuse("circuit", lambda grim, to, handler, block: grim.forward(_card(to), 3, 0)),  # type: ignore[arg-type]
    "no such way": Misuse("mode", lambda grim, to, handler, block: grim.forward(_card(to), "crc32", 9)),  # type: ignore[arg-type]
    "results for no channel": Misuse(
        "target", lambda grim, to, handler, block: grim.forward(_card(to), "crc32", Forward.ENDPOINT, to | 999, handler)
    ),
    "results for a NI": Misuse(
        "target",
        lambda grim, to, handler, block: grim.forward(
            _card(to), "crc32", Forward.ENDPOINT, to | Device.NI << 16, handler
        ),
    ),
    "results for no handler": Misuse(
        "handler", lambda grim, to, handler, block: grim.forward(_card(to), "crc32", Forward.ENDPOINT, to, 60_000)
    ),
    "results of a host": Misuse("card", lambda grim, to, handler, block: grim.forward(to, "crc32", Forward.REPLY)),
    "results of a NI": Misuse(
        "card", lambda grim, to, handler, block: grim.forward(to | Device.NI << 16, "crc32", Forward.REPLY)
    ),
    "too long for a card": Misuse(
        "payload",
        lambda grim, to, handler, block: grim.send(_card(to), handler, payload=bytes(MAX_SEND + 4)),
    ),
    "channel of the card": Misuse(
        "channel", lambda grim, to, handler, block: grim.send(to, handler, channel=_channel(grim, grim.get_my_vnn()))
    ),
    "endpoint of the card": Misuse(
        "destination", lambda grim, to, handler, block: grim.send(to | _channel(grim, to >> 24), handler)
    ),
    "no such image": Misuse("image", lambda grim, to, handler, block: _own(grim).load("digest.bit")),
    "image of a number": Misuse("image", lambda grim, to, handler, block: _own(grim).load(1)),
    "no such device": Misuse("device", lambda grim, to, handler, block: grim.get_resource(0, 9)),
}
"""Calls that must fail immediately, like `MISUSES`."""


def _own(grim: Grim) -> Any:
    return grim.card


class CardActs:
    """Acts of a node on cards."""

    def __init__(self, node: Node, ledger: Ledger, now: Callable[[], int]) -> None:
        self.node, self.jobs, self._now = node, ledger, now
        self.index, self.host = node.index, node.host
        self._entries: dict[tuple[int, str], Place | None] = {}
        """Destination of the results of each own circuit; results without an entry are dropped."""
        self._modes: dict[tuple[int, str], tuple[Forward, int, int]] = {}
        """Arguments of the last `forward` of each own circuit: mode, target, handler."""
        self._losses: dict[tuple[int, str], int] = {}
        """Number of losses of power of the card before it."""
        self.further = 0
        """Number of other messages to cards."""

    # ---- before the acts

    def handler(self) -> Callable[..., None]:
        """Return the handler of results."""

        def result(source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
            words = a0, a1, a2
            self.jobs.arrive(self._now(), self.index, source, words, bytes(payload), self.node.channels)

        return result

    async def begin(self) -> None:
        """Resolve the circuits' numbers, and check that the own card's shared circuit returns messages to their
        senders.
        """
        library = self.node.library
        for name in (*CIRCUITS, RESULT):
            self.node.numbers[name] = await library.resolve_handler(name)
        await library.forward(self.reference(self.index), SHARED, Forward.REPLY)
        await self.send(self.index, SHARED, 0, 0, (self.index, 0))
        await self.node.idle(lambda: not any(self.jobs.missing_at(self.index)))

    # ---- acts

    async def do_card_send(self, act: Act) -> None:
        """Send a message through an own circuit."""
        card, circuit = self._owned(act)
        await self.send(card, circuit, act.whole("argument"), act.whole("bytes"), self._entries.get((card, circuit)))

    async def do_card_burst(self, act: Act) -> None:
        """Send many messages back to back."""
        card, circuit = self._owned(act)
        for _ in range(BURST):
            size = min(act.whole("bytes"), 500)
            await self.send(card, circuit, act.whole("argument"), size, self._entries.get((card, circuit)))

    async def do_card_loopback(self, act: Act) -> None:
        """Send a message through the shared circuit and back, on any channel."""
        channel = self.node.channel(act)
        card = act.whole("to") % self.node.cluster.program.nodes
        await self.send(card, SHARED, act.whole("argument"), act.whole("bytes"), (self.index, channel), channel)

    async def do_card_forward(self, act: Act) -> None:
        """Set the destination of the results of an own circuit."""
        (card, circuit), (to, place) = self._owned(act), self.node.where(act)
        mode = Forward[str(act.values["mode"])]
        handler = self.node.numbers[RESULT]
        library, own = self.node.library, (self.index, 0)
        if not self.jobs.has_power(card):
            return
        losses = len(self.jobs.outages[card])
        self.further += 1
        if mode != Forward.ENDPOINT:
            to, handler = 0, 0
        done = await self.node.call(
            str(act), lambda: _true(library.forward(self.reference(card), circuit, mode, to, handler))
        )
        if done:
            places = {Forward.NOWHERE: None, Forward.ENDPOINT: place, Forward.REPLY: own}
            self._entries[card, circuit] = places[mode]
            self._modes[card, circuit] = mode, to, handler
            self._losses[card, circuit] = losses

    async def _direct_again(self, card: int, circuit: str) -> None:
        """Direct the results of an own circuit as before, if the card has lost its entries with its power."""
        losses = len(self.jobs.outages[card])
        if (card, circuit) not in self._modes or self._losses[card, circuit] == losses:
            return
        if self.jobs.has_power(card):
            self._losses[card, circuit] = losses
            self.further += 1
            call = partial(self.node.library.forward, self.reference(card), circuit, *self._modes[card, circuit])
            await self.node.call(f"forward of {circuit}", call)

    async def do_card_pause(self, act: Act) -> None:
        """Stop the shell for some time."""
        card = _own(self.node.library)
        await self.node.beside(card.pause(), str(act))
        await self.host.sleep(act.whole("us") * 1_000_000, "a card that pauses")
        await self.node.beside(card.resume(), str(act))

    async def do_card_no_circuit(self, act: Act) -> None:
        """Send a message to a card for a handler without a circuit, which causes a later error."""
        card = act.whole("to") % self.node.cluster.program.nodes
        self.node.ledger.owe(str(act), "handler", "'take'", f"card of node {card}")
        await self.node.call(str(act), lambda: self.node.library.send(self.reference(card), self.node.numbers["take"]))

    async def do_card_misuse(self, act: Act) -> None:
        """Make an invalid call."""
        misuse = WRONG[str(act.values["what"])]
        to = Reference((self.index + 1) % self.node.cluster.program.nodes, Device.HOST, 0).pack()
        await self.node.call(
            f"misuse: {act.values['what']}",
            lambda: misuse.call(self.node.library, to, self.node.numbers["take"], 0),
            refused=misuse.argument,
        )

    def entry(self, card: int, circuit: str) -> tuple[Forward, int, int]:
        """Return the arguments of `forward` with which an own circuit was last directed."""
        return self._modes.get((card, circuit), (Forward.NOWHERE, 0, 0))

    # ---- how

    def _owned(self, act: Act) -> tuple[int, str]:
        """Return a card and one of its circuits that belongs to this node."""
        card = act.whole("to") % self.node.cluster.program.nodes
        mine = [name for place, name in enumerate(OWNED) if (place + card) % 2 == self.index % 2]
        return card, mine[act.whole("circuit") % len(mine)]

    @staticmethod
    def reference(card: int) -> int:
        """Return the reference of the card of a node."""
        return Reference(card, Device.CELOXICA, 0).pack()

    async def send(self, card: int, circuit: str, argument: int, size: int, to: Place | None, channel: int = 0) -> None:
        """Send a message to a circuit of a card, whose result goes to a place."""
        if circuit == SHARED:
            await self.node.idle(lambda: not self.jobs.taken[card])
        await self._direct_again(card, circuit)
        job = self.jobs.begin(self._now(), card, circuit, argument, size, to, self.index)
        await self.node.call(str(job), lambda: self.give(job, channel))

    async def give(self, job: Job, channel: int) -> None:
        """Send a recorded message to its circuit."""
        number, library = self.node.numbers[job.circuit], self.node.library
        words = job.argument, job.number, job.number * CHECK & MASK, self.node.numbers[RESULT]
        await library.send(self.reference(job.card), number, *words, payload=job.payload, channel=channel)


async def _true(call: Any) -> bool:
    await call
    return True
