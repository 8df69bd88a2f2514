"""The other NIs: at enable each NI notifies every other one that it was reset, until all have answered and sent their
own notice (readings B9).

That takes as many notices as there are pairs. In a tree (ours) a NI exchanges notices with its neighbours alone: it
tells the one above when all below have told it, so the root hears when all NIs are reset; then notices go down. None
comes out before the last went in, as with pairs.
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
"""NIs below one in the tree. Ours: a few answers at a time, and few levels."""


def partners(me: int, nodes: int, tree: bool) -> Mapping[int, frozenset[int]]:
    """The NIs that node `me` exchanges notices with at enable: by VNN, who must have been heard before that one is
    told. All nodes are a heap in the order of their VNN.
    """
    if not tree:
        return dict.fromkeys((vnn for vnn in range(nodes) if vnn != me), frozenset())
    below = frozenset(range(BELOW * me + 1, min(BELOW * (me + 1), nodes - 1) + 1))
    above = frozenset({(me - 1) // BELOW} if me else ())
    return {**dict.fromkeys(above, below), **dict.fromkeys(sorted(below), below | above)}


class Peers:
    """Notices and their answers, on a network that loses nothing."""

    def __init__(self, ni: Ni, transmitter: Transmitter) -> None:
        self.ni, self.nic, self.transmitter = ni, ni.nic, transmitter
        self.heard: set[int] = set()
        """NIs whose notice was heard."""
        self.answered: set[int] = set()
        """NIs that answered ours."""
        self.partners = partners(ni.me, ni.nodes, ni.options.has_tree(ni.nodes))
        """The NIs that this one waits for at enable, and who is heard before each is told."""
        self.nic.waits.ask(self._owed)

    def _owed(self) -> Iterator[Wait]:
        """For hang reports: the NIs that this one waits for at enable."""
        if self.nic.load(Word.STATE) == State.SYNCHRONISING:
            for vnn in sorted(self.partners.keys() - self.ni.down - self.met):
                yield Wait(self.nic.who, Wanted(f"{self.ni.names[vnn]} to be enabled"))

    @property
    def met(self) -> set[int]:
        """NIs that have answered, and whose notice has come."""
        return self.heard & self.answered

    def due(self) -> set[int]:
        """NIs that may be told, and have not answered."""
        return {peer for peer, first in self.partners.items() if peer not in self.answered and first <= self.heard}

    def notice(self, peer: int) -> None:
        """Tell a NI that this one is reset."""
        self._tell_count(peer, 0)

    def _tell_count(self, peer: int, count: int) -> None:
        self.transmitter.answer(peer, control(MessageType.SYNC, count, 0, self.ni.me))
        self.ni.count(Counter.SYNC_SENT)
        self.nic.trace(TraceEvent.SYNC_SENT, 0, peer)

    async def noticed(self, notice: Words) -> None:
        """The notice of another NI: note it, and answer."""
        await self._hear(notice.source)
        self.transmitter.answer(notice.source, control(MessageType.SYNC_ANSWER, 0, 0, self.ni.me))

    async def _hear(self, peer: int) -> None:
        self.heard.add(peer)
        self.nic.trace(TraceEvent.SYNC_SEEN, 0, peer)
        await self.nic.work("sync_heard")

    async def confirmed(self, answer: Words) -> None:
        """Another NI has answered the notice."""
        self.answered.add(answer.source)
        await self.nic.work("sync_answered")
