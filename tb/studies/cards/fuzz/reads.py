"""Remote reads that circuits issue: the shared circuit of a card returns requests, with which the card reads a window.

One node directs the shared circuit of a card into remote reads, while no other message for it is in flight. It sends
requests, each with a lock in the card's own window, waits for all locks, and directs the circuit back. A message to
this circuit and back shows that the entry is set again.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from firmware.grim.formats import Device, Reference
from pymodels.card.registers import Forward
from tb.fuzz.program import Act
from tb.studies.cards.fuzz.acts import SHARED, CardActs
from tb.studies.cards.fuzz.windows import BEGIN, CONSTANT, Windows
from tb.studies.grim.fuzz.mail import INK
from tb.studies.grim.fuzz.node import Node

REQUEST, LOCK_BYTES, BURST, LONGEST = 16, 4, 3, 2000
LOCKED = b"\x01" * LOCK_BYTES


class Reads:
    """Acts of a node that make a card read remotely."""

    def __init__(
        self, node: Node, cards: CardActs, into: Callable[[int], Windows], memory: Callable[[int], NDArray[np.uint8]]
    ) -> None:
        """Set up the acts.

        Args:
            node: Node.
            cards: Its acts on circuits.
            into: Function that returns the acts on the window of a card.
            memory: Function that returns the memory of a node's card in bytes.
        """
        self.node, self._cards, self._into, self._memory = node, cards, into, memory

    async def do_card_read(self, act: Act) -> None:
        """Let the shared circuit of a card read the window of a card."""
        node, jobs = self.node, self._cards.jobs
        nodes, segment = node.cluster.program.nodes, node.library.options.segment_bytes
        if segment < REQUEST:
            return
        card = act.whole("to") % nodes
        await node.idle(lambda: not jobs.taken[card])
        jobs.taken[card] = True
        await node.idle(lambda: not jobs.under_way(card, SHARED))
        source = Reference((card + act.whole("skew")) % nodes, Device.CELOXICA, 0).pack()
        await self._direct(act, card, Forward.FETCH, source)
        locks = [lock for number in range(BURST) if (lock := await self._request(act, card, number, segment))]
        memory = self._memory(card)
        await node.idle(lambda: not any(any(memory[lock : lock + LOCK_BYTES]) for lock in locks))
        await self._direct(act, card, Forward.REPLY, 0)
        jobs.taken[card] = False
        await self._cards.send(card, SHARED, 0, 0, (node.index, 0))
        jobs.taken[card] = True
        await node.idle(lambda: not jobs.under_way(card, SHARED))
        jobs.taken[card] = False

    async def _request(self, act: Act, card: int, number: int, segment: int) -> int:
        """Send one request, and return the offset of its lock; 0 if the window has no room."""
        node, windows = self.node, self._into(card)
        size = min(act.whole("bytes") % LONGEST + 4 * number + 4, segment)
        target, lock = windows.take(size + -size % 4), windows.take(LOCK_BYTES)
        if target is None or lock is None:
            return 0
        offset = (4 * act.whole("offset") + 64 * number) % (CONSTANT - LONGEST - 64) & ~3
        windows.written.append((target, INK[offset : offset + size]))
        self._memory(card)[lock : lock + LOCK_BYTES] = np.frombuffer(LOCKED, np.uint8)
        request = struct.pack("<4I", BEGIN + offset, target, size, lock)
        to = Reference(card, Device.CELOXICA, 0).pack()
        await node.call(str(act), partial(node.library.send, to, node.numbers[SHARED], payload=request))
        return lock

    async def _direct(self, act: Act, card: int, mode: Forward, to: int) -> None:
        library, own = self.node.library, Reference(card, Device.CELOXICA, 0).pack()

        async def done() -> bool:
            await library.forward(own, SHARED, mode, to)
            return True

        await self.node.call(str(act), done)
