"""Remote writes that circuits issue: results of the stateless circuit `crc32` that go into another card's window.

The node that owns the circuit directs its results into the window, sends messages, and directs them back. All these
messages are in one stream, so each entry applies to the results that it is meant for.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from firmware.grim.formats import Device, Reference
from pymodels.card.registers import Forward
from tb.fuzz.program import Act
from tb.studies.cards.fuzz.acts import OWNED, CardActs
from tb.studies.cards.fuzz.windows import Windows
from tb.studies.grim.fuzz.mail import INK
from tb.studies.grim.fuzz.node import Node

CIRCUIT, RESULT_BYTES = "crc32", 4
BURST = 3


def crc32_card(node: int) -> int:
    """Return the card whose circuit `crc32` belongs to a node."""
    return (node - OWNED.index(CIRCUIT)) % 2


class Issued:
    """Acts of a node whose circuit writes into the window of the next node's card."""

    def __init__(
        self, node: Node, cards: CardActs, windows: Windows, memory: Callable[[int], NDArray[np.uint8]]
    ) -> None:
        """Set up the acts; `memory` returns the memory of a node's card in bytes."""
        self.node, self._cards, self._windows = node, cards, windows
        self._memory = memory
        self._card = crc32_card(node.index)
        self._expected: list[tuple[int, bytes]] = []

    async def do_card_issue(self, act: Act) -> None:
        """Let the circuit write its results remotely."""
        library, circuit = self.node.library, self.node.numbers[CIRCUIT]
        card = Reference(self._card, Device.CELOXICA, 0).pack()
        window = Reference(self._windows.other, Device.CELOXICA, 0).pack()
        await self.node.call(str(act), lambda: self._direct(card, Forward.WRITE, window, 0))
        for number in range(BURST):
            target = self._windows.take(RESULT_BYTES)
            if target is None:
                break
            begin = 4 * act.whole("offset") + number
            payload = INK[begin : begin + act.whole("bytes") % 3000]
            result = zlib.crc32(payload).to_bytes(RESULT_BYTES, "little")
            await self.node.call(str(act), partial(library.send, card, circuit, 0, target, 0, 0, payload))
            self._windows.written.append((target, result))
            self._expected.append((target, result))
        mode, to, handler = self._cards.entry(self._card, CIRCUIT)
        await self.node.call(str(act), lambda: self._direct(card, mode, to, handler))

    async def _direct(self, card: int, mode: Forward, to: int, handler: int) -> bool:
        await self.node.library.forward(card, CIRCUIT, mode, to, handler)
        return True

    def missing(self) -> Iterator[str]:
        """Yield a description of each result that is not in the window."""
        memory = self._memory(self._windows.other)
        for target, result in self._expected:
            if memory[target : target + RESULT_BYTES].tobytes() != result:
                yield f"a result of {CIRCUIT} of card {self._card} is not at {target:#x} of card {self._windows.other}"
