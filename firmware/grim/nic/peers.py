"""Synchronisation of the NIs at enable (readings B9).

Each NI notifies every other NI that it was reset, until all have answered and have sent their own notice. This takes as
many notices as there are pairs. In a tree (ours) a NI exchanges notices only with its neighbours. It notifies its
parent when all its children have notified it, so the root learns when all NIs are reset. Then notices go down the tree.
As with pairs, no NI leaves the synchronisation before the last one has entered it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firmware.grim.formats import MessageType, Words, control
from firmware.grim.nic.layout import Counter, State, Word
from firmware.grim.nic.ni import Ni
from firmware.grim.nic.transmitter import Transmitter
from pymodels.trace import TraceEvent
from pymodels.waiting import Wait, Wanted

BELOW = 4
"""Number of children of a NI in the tree (ours): limits concurrent answers, and keeps the tree shallow."""


def partners(me: int, nodes: int, tree: bool) -> Mapping[int, frozenset[int]]:
    """Return the NIs with which a node exchanges notices at enable.

    In a tree, the nodes form a heap in the order of their VNNs.

    Args:
        me: VNN of the node.
        nodes: Number of nodes.
        tree: True for synchronisation along a tree, False for all pairs.

    Returns:
        For each partner's VNN, the NIs whose notice must have arrived before that partner is notified.
    """
    if not tree:
        return dict.fromkeys((vnn for vnn in range(nodes) if vnn != me), frozenset())
    below = frozenset(range(BELOW * me + 1, min(BELOW * (me + 1), nodes - 1) + 1))
    above = frozenset({(me - 1) // BELOW} if me else ())
    return {**dict.fromkeys(above, below), **dict.fromkeys(sorted(below), below | above)}


class Peers:
    """Notices and their answers on a lossless network."""

    def __init__(self, ni: Ni, transmitter: Transmitter) -> None:
        self.ni, self.nic, self.transmitter = ni, ni.nic, transmitter
        self.heard: set[int] = set()
        """NIs whose notice has arrived."""
        self.answered: set[int] = set()
        """NIs that have answered this NI's notice."""
        self.partners = partners(ni.me, ni.nodes, ni.options.has_tree(ni.nodes))
        """NIs to synchronise with, and the NIs whose notice must precede the notice to each."""
        self.nic.waits.register(self._owed)

    def _owed(self) -> Iterator[Wait]:
        """Yield a wait for each NI that is missing at enable, for hang reports."""
        if self.nic.load(Word.STATE) == State.SYNCHRONISING:
            for vnn in sorted(self.partners.keys() - self.ni.down - self.met):
                yield Wait(self.nic.who, Wanted(f"{self.ni.names[vnn]} to be enabled"))

    @property
    def met(self) -> set[int]:
        """NIs that have answered and whose own notice has arrived."""
        return self.heard & self.answered

    def due(self) -> set[int]:
        """Return the NIs that may be notified and have not answered."""
        return {peer for peer, first in self.partners.items() if peer not in self.answered and first <= self.heard}

    def notice(self, peer: int) -> None:
        """Notify a NI that this one was reset."""
        self._tell_count(peer, 0)

    def _tell_count(self, peer: int, count: int) -> None:
        self.transmitter.answer(peer, control(MessageType.SYNC, count, 0, self.ni.me))
        self.ni.count(Counter.SYNC_SENT)
        self.nic.trace(TraceEvent.SYNC_SENT, 0, peer)

    async def noticed(self, notice: Words) -> None:
        """Record and answer the notice of another NI."""
        await self._hear(notice.source)
        self.transmitter.answer(notice.source, control(MessageType.SYNC_ANSWER, 0, 0, self.ni.me))

    async def _hear(self, peer: int) -> None:
        self.heard.add(peer)
        self.nic.trace(TraceEvent.SYNC_SEEN, 0, peer)
        await self.nic.work("sync_heard")

    async def confirmed(self, answer: Words) -> None:
        """Record the answer of another NI to this NI's notice."""
        self.answered.add(answer.source)
        await self.nic.work("sync_answered")
