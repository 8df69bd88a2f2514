"""Losses of power of cards while messages, results and remote writes are in flight.

A host cuts the power of its card, lets it return, and starts the card again. Whatever began before the card worked
again and had not ended before the loss is in doubt: it is delivered once and whole, refused by an error that names the
card, or lost with the card. A refused message must not be delivered. Everything else must be as without the loss.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from firmware.grim.formats import Device, Reference
from firmware.grim.host import GrimError
from firmware.grim.host.errors import CardPowerError
from pymodels.card.registers import Forward
from pymodels.config.model import FPGA_CARD
from tb.fuzz.program import Act
from tb.studies.cards.fuzz.acts import SHARED, CardActs
from tb.studies.cards.fuzz.circuits import Load, Outage
from tb.studies.cards.fuzz.images import Images
from tb.studies.cards.fuzz.windows import Windows
from tb.studies.grim.fuzz.errors import Due
from tb.studies.grim.fuzz.mail import FOREVER
from tb.studies.grim.fuzz.node import Node

US = 1_000_000
SHORTEST_US = 300
"""Shortest time without power: longer than between two polls of a driver that waits for the card."""
RETURN_US = 20
"""Time after which the card answers again."""
ATTEMPTS = 10
"""Maximum number of attempts to start a card."""
MANY = 1 << 30


class Outages:
    """Acts of a node on the power of its card, and the errors that they may cause at any node."""

    def __init__(
        self,
        node: Node,
        images: Images,
        now: Callable[[], int],
        all_cards: Sequence[CardActs],
        all_windows: Sequence[Windows],
    ) -> None:
        """Set up the acts.

        Args:
            node: Node.
            images: Its acts on the configuration port of its card.
            now: Function that returns the simulated time.
            all_cards: Acts of each node on circuits, with those of this node the last at first.
            all_windows: Acts of each node on windows, complete when all nodes have been created.
        """
        self.node, self._images, self._now = node, images, now
        self._cards, self._all_cards, self._windows = all_cards[-1], all_cards, all_windows
        self._refused: dict[int, list[Due]] = {}
        """Errors that refuse a message to this node's card, by the node that gets them."""

    async def do_card_power(self, act: Act) -> None:
        """Cut the power of the own card, let it return, and start the card again."""
        node, jobs, cluster = self.node, self._cards.jobs, self.node.cluster
        index = node.index
        if not jobs.has_power(index):
            return
        cut = self._now() + act.whole("us") * US
        down = (SHORTEST_US + act.whole("down")) * US
        outage, cleared = Outage(cut), Load(cut)
        jobs.outages[index].append(outage)
        jobs.loads[index].append(cleared)
        self._allow()
        cluster.world.cut_power(index, FPGA_CARD, cut, down)
        await node.idle(lambda: self._now() > cut + down + RETURN_US * US)
        await node.beside(self._start(str(act)), f"new start of the card of node {index}")
        self._images.restart()
        await self._windows[index].begin()
        library = node.library
        own = Reference(index, Device.CELOXICA, 0).pack()
        self._cards.further += 1

        async def direct() -> bool:
            await library.forward(own, SHARED, Forward.REPLY)
            return True

        await node.call(str(act), direct)
        last = jobs.begin(self._now(), index, SHARED, 0, 0, (index, 0), index)
        await node.call(str(act), lambda: self._cards.give(last, 0))
        await node.idle(lambda: last.arrived < FOREVER)
        outage.end = cleared.ended = self._now()

    async def _start(self, what: str) -> None:
        """Start the card again, as soon as its last messages are acknowledged."""
        card: Any = self.node.library.card
        for _ in range(ATTEMPTS):
            try:
                await card.restart()
            except CardPowerError as error:
                self.node.wrong(f"{what}: {error}")
            except GrimError:
                continue
            return
        self.node.wrong(f"{what}: the card has not been started in {ATTEMPTS} attempts")

    def _allow(self) -> None:
        """Allow the errors of one loss at all nodes, and one report at this one."""
        card, ledgers = self.node.index, self.node.cluster.ledgers
        ledgers[card].owe("loss of power", "card", f"card of VNN {card} does not answer", least=0)
        for at, ledger in enumerate(ledgers):
            ends = f"FPGA card of node {card}, which has lost its power"
            ledger.owe("unfinished results", "message", ends, least=0, most=len(self.node.channels_of(at)))
            if at not in self._refused:
                texts = {
                    "destination": f"the card of VNN {card} has no power, or has not been started again",
                    "payload": f"a message to the FPGA card of VNN {card} came too late",
                    "address": f"no open window of the card of VNN {card}",
                }
                self._refused[at] = [
                    ledger.owe("loss of power", argument, text, least=0, most=MANY) for argument, text in texts.items()
                ]

    def wrong(self) -> list[str]:
        """Return a description of each node that got more errors than messages to the card can have been refused."""
        jobs, card = self._cards.jobs, self.node.index
        segment = self.node.library.options.segment_bytes
        found = []
        for at, dues in self._refused.items():
            lost = [job for job in jobs.jobs if (job.card, job.sender) == (card, at) and job.arrived == FOREVER]
            most = sum(1 + len(job.payload) // segment for job in lost if jobs.may_be_lost(job))
            most += self._windows[at].segments(segment) + self._all_cards[at].further
            count = sum(due.came for due in dues)
            if count > most:
                found.append(
                    f"node {at} has got {count} errors about the card of node {card}, but only {most} messages of it "
                    "can have been refused"
                )
        return found
