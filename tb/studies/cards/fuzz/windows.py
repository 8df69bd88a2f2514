"""Remote memory of cards: transfers into the windows of another node's card, out of them, and beside them.

Each card has one window, which its host opens before the acts. The first part of the window is constant and read; the
rest is written, each byte at most once. At the end all bytes outside of the shell's memory must be as written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firmware.grim.formats import Device, Reference
from pymodels.card.registers import BANK_BYTES
from tb.fuzz.program import Act
from tb.studies.cards.fuzz.circuits import LOST, Outage
from tb.studies.grim.fuzz.mail import INK
from tb.studies.grim.fuzz.memory import Order
from tb.studies.grim.fuzz.node import Node
from tb.studies.grim.fuzz.transfers import Transfers

BANK = 2 * BANK_BYTES
FIRST = BANK + BANK_BYTES // 4
"""First byte of bank 2 behind the results of the shell."""
BEGIN, ROOM, CONSTANT = BANK + BANK_BYTES // 2, 1 << 16, 1 << 13
"""Offset and bytes of the window, and bytes of its constant part."""
LONGEST = 5000
BESIDE = {
    "below": (BEGIN - 64, "address"),
    "across its end": (BEGIN + ROOM - 32, "number of bytes"),
    "results": (BANK, "address"),
    "incoming queue": (64, "address"),
}
"""Targets outside of the window, of 64 bytes, and the argument that the error names."""


class Windows:
    """Acts of a node on the card of the next node."""

    def __init__(
        self,
        node: Node,
        transfers: Transfers,
        memories: list[NDArray[np.uint8]],
        outages: Sequence[Sequence[Outage]],
        now: Callable[[], int],
    ) -> None:
        """Set up the acts.

        Args:
            node: Node.
            transfers: Its transfers between hosts.
            memories: Memory of each card in bytes.
            outages: Losses of power of each card.
            now: Function that returns the simulated time.
        """
        self.node, self._transfers, self._memories = node, transfers, memories
        self.other = (node.index + 1) % len(memories)
        self._outages, self._now = outages, now
        self.written: list[tuple[int, bytes]] = []
        self._begun: list[int] = []
        """Time of each remote write of the host, of which `written` holds the data."""
        self._next = BEGIN + CONSTANT

    async def begin(self) -> None:
        """Fill and open the window of the own card."""
        own = self._memories[self.node.index]
        own[BEGIN : BEGIN + CONSTANT] = np.frombuffer(INK[:CONSTANT], np.uint8)
        card: Any = self.node.library.card
        await self.node.call("open window", lambda: card.open_window(BEGIN, ROOM))

    def take(self, size: int) -> int | None:
        """Return the offset of bytes of the window that nothing else writes, or None if none are left."""
        target = self._next
        if target + size > BEGIN + ROOM:
            return None
        self._next = target + size
        return target

    async def do_card_store(self, act: Act) -> None:
        """Write remotely into the window."""
        size = max(act.whole("bytes") & ~3, 4)
        target = self._next + 4 * act.whole("skew")
        if target + size > BEGIN + ROOM:
            return
        self._next = target + size
        source = 4 * act.whole("offset")
        self.written.append((target, INK[source : source + size]))
        self._begun.append(self._now())
        await self._send(act, target, source, size)

    async def do_card_fetch(self, act: Act) -> None:
        """Read remotely from the constant part of the window."""
        transfers, library = self._transfers, self.node.library
        landing = self.node.memory.blocks_of(self.node.index, "landing")[0]  # never freed
        size = min(max(act.whole("bytes") & ~3, 4), landing.size & ~3)
        source = 4 * act.whole("offset") % (CONSTANT - size) & ~3
        lock = transfers.new_lock(self.node.index, 0)
        channel = self.node.channel(act)
        order = Order("card read", self.node.index, act.task, channel, self.other)
        transfers.expect(str(act), self.node.index, landing.va, INK[source : source + size], order, lock)
        await self.node.call(
            str(act),
            lambda: library.fetch_memory(self._card, landing.va, BEGIN + source, size, lock=lock.va, channel=channel),
        )

    async def do_card_beside(self, act: Act) -> None:
        """Write to the card outside of its window, which causes a later error."""
        target, argument = BESIDE[str(act.values["beside"])]
        self.node.ledger.owe(str(act), argument, f"VNN {self.other}")
        await self._send(act, target, 0, 64)

    @property
    def _card(self) -> int:
        return Reference(self.other, Device.CELOXICA, 0).pack()

    async def _send(self, act: Act, target: int, source: int, size: int) -> None:
        library, ink, channel = self.node.library, self.node.ink.va + source, self.node.channel(act)
        await self.node.call(str(act), lambda: library.send_memory(self._card, target, ink, size, channel=channel))

    def segments(self, segment: int) -> int:
        """Return the number of messages of this host that write into the window."""
        return sum(1 + len(data) // segment for _, data in self.written)

    def wrong(self) -> list[str]:
        """Return a description of the first wrong byte in the part of the card that only this node writes."""
        begin, end = FIRST, BANK + BANK_BYTES
        outages = self._outages[self.other]
        meant = np.full(end - begin, LOST if outages else 0, np.uint8)
        found = np.array(self._memories[self.other][begin:end], np.uint8)
        meant[BEGIN - begin : BEGIN - begin + CONSTANT] = np.frombuffer(INK[:CONSTANT], np.uint8)
        for place, (target, data) in enumerate(self.written):
            if outages and self._begun[place] < outages[-1].end:  # lost, or written after the new start
                now = found[target - begin : target - begin + len(data)]
                now[now == np.frombuffer(data, np.uint8)] = LOST
                continue
            meant[target - begin : target - begin + len(data)] = np.frombuffer(data, np.uint8)
        differs = np.flatnonzero(meant != found)
        if not len(differs):
            return []
        return [f"card of node {self.other}: {len(differs)} wrong bytes from {begin + int(differs[0]):#x} on"]
