"""Bytes that a host moves into its own card by TPIL while the card's shell works.

Each byte must arrive where it was written, and nothing else may change.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firmware.grim.nic.cards import CARD
from firmware.tpil.host import CardDma, Method, TpilError, create
from pymodels.card.registers import BANK_BYTES, BANKS
from tb.fuzz.program import Act
from tb.studies.cards.fuzz.circuits import LOST, Outage
from tb.studies.grim.fuzz.mail import INK
from tb.studies.grim.fuzz.node import Node

FROM = BANK_BYTES // 2
"""First byte of a bank after the incoming queues."""
AREA = 1 << 15
"""Bytes reserved for one transfer."""
LONGEST = 12_000
SIZE = BANKS * BANK_BYTES
WRONG = {
    "below": (-AREA, 0, 64),
    "beyond": (SIZE - 32, 0, 64),
    "nothing": (FROM, 0, 0),
    "less than nothing": (FROM, 0, -64),
}
"""Invalid transfers: target, offset of the source, and bytes."""


class Injection:
    """Acts of a node on its card's memory."""

    def __init__(self, node: Node, memory: NDArray[np.uint8], outages: Sequence[Outage]) -> None:
        """Set up the acts; `memory` is the card's memory in bytes, which its losses of power overwrite."""
        self._outages = outages
        self.node, self._memory = node, memory
        card: Any = node.library.card
        self._card = create(node.host, CARD, SIZE, CardDma(node.host, CARD, card.dma_turn))
        self._source = node.host.allocate(AREA)
        node.host.store_bytes(self._source.address, INK[:AREA])
        self._written: list[tuple[int, bytes]] = []

    async def do_card_inject(self, act: Act) -> None:
        """Make a transfer by one of the available methods."""
        number = len(self._written)
        size, offset = max(act.whole("bytes"), 1), act.whole("offset")
        target = number % 2 * BANK_BYTES + FROM + number // 2 * AREA + 4 * act.whole("skew") + number % 4
        source = self._source.address + offset
        ways = self._card.methods(aligned=not (source ^ target) & 7)
        way = ways[act.whole("way") % len(ways)]
        self._written.append((target, INK[offset : offset + size]))
        await self._move(way, target, source, size)

    async def _move(self, way: Method, target: int, source: int, size: int) -> None:
        try:
            await self._card.move(way, target, source, size)
        except TpilError as error:
            self.node.wrong(f"{size} bytes to {target:#x} of its card by {way.value}: {error}")

    async def do_card_inject_wrongly(self, act: Act) -> None:
        """Make an invalid transfer."""
        target, offset, size = WRONG[str(act.values["transfer"])]
        ways = self._card.methods(aligned=True)
        try:
            await self._card.move(ways[act.whole("way") % len(ways)], target, self._source.address + offset, size)
        except TpilError:
            return
        self.node.wrong(f"{act} was not rejected")

    def wrong(self) -> list[str]:
        """Return a description of each wrong byte in the part of the card that only this host writes."""
        found = []
        for bank in range(2):
            begin, end = bank * BANK_BYTES + FROM, (bank + 1) * BANK_BYTES
            meant = np.full(end - begin, LOST if self._outages else 0, np.uint8)
            for target, data in self._written:
                if begin <= target < end:
                    meant[target - begin : target - begin + len(data)] = np.frombuffer(data, np.uint8)
            differs = np.flatnonzero(meant != self._memory[begin:end])
            if len(differs):
                at, count = int(differs[0]), len(differs)
                found.append(f"card of node {self.node.index}: {count} wrong bytes from {begin + at:#x} on")
        return found
