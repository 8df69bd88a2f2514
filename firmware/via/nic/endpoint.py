"""A VI as the NIC knows it: its work queues, its state, its connection."""

from __future__ import annotations

from firmware.verbs import Nic
from firmware.via.nic.connection import Connection
from firmware.via.nic.layout import Layout, State, Vi
from firmware.via.nic.queue_cache import QueueCache
from firmware.via.nic.receive_queue import ReceiveQueue
from firmware.via.nic.user_pages import Pair
from firmware.via.nic.words import ModeWord, PeerWord


class Endpoint:
    """A VI as the NIC knows it. Private variables of the firmware; what the kernel sees stands in SRAM."""

    def __init__(self, nic: Nic, layout: Layout, number: int) -> None:
        self._nic = nic
        self.number = number
        self.words = layout.vi(number, Vi.STATE)
        receives = receive_cache(nic, layout, number)
        self.receives = ReceiveQueue(receives)
        self.sends = send_cache(nic, layout, number) if layout.options.user_level else None
        """The send queue cache of its process."""
        self.user = receives.user
        """Its process posts by itself, without the kernel."""
        self.owned = False
        """A process has it, and writes its queue caches itself."""
        self.generation = 0
        self.connection = Connection()
        """The present one, or the last one."""
        self.acknowledged = 0
        """Sends of reliable connections that are over, from the start."""
        self.left = 0
        """And that have left, or will not leave."""

    def state(self) -> State:
        """Its state; when the kernel has begun a new generation, so does another connection."""
        generation, state = divmod(self._nic.load(self.words), 256)
        if generation != self.generation:
            self.generation = generation
            words = self._nic.load_words(self.words + Vi.PEER, 2)
            peer, mode = PeerWord(words[0]), ModeWord(words[1])
            self.connection = Connection(peer.node, peer.vi, peer.connection, mode.reliability, mode.rights)
        return State(state)

    def connected(self, connection: Connection) -> bool:
        """Whether it has this connection, and it is not broken."""
        return self.state() is State.CONNECTED and self.connection is connection

    def leave(self) -> None:
        """It has no owner any more. What its process has posted is void, and its end is not reported."""
        self.owned = False
        self.connection = Connection()
        self.receives.ahead.clear()

    def reset(self) -> None:
        """It has a new owner, whose queue caches are empty: a process that rings by itself."""
        assert self.sends is not None
        self.owned = True
        self.receives.cache.restart()
        pair = self._nic.load(self.words + Vi.PAIR)
        self.receives.cache.move(pair + Pair.RECEIVE_TAIL, pair + Pair.RECEIVE_HEAD)
        self.sends.move(pair + Pair.SEND_TAIL, pair + Pair.SEND_HEAD)
        self.sends.restart()

    def count_left(self) -> None:
        """A send of a reliable connection has left, or will not leave: the kernel sees it."""
        self.left = self.left + 1 & 0xFFFFFFFF
        self._nic.store_on(self.words + Vi.LEFT, (self.left,))

    def tag(self) -> int:
        """Its protection tag."""
        return self._nic.load(self.words + Vi.TAG)


def send_cache(nic: Nic, layout: Layout, vi: int) -> QueueCache:
    """The send queue cache in the page of a VI's process; its counters stand where the kernel says."""
    at, (base, words) = layout.page(vi), layout.queues.sends
    return QueueCache(nic, at + base, words, at, at, vi=vi, user=True, told=layout.options.doorbell == "hw")


def receive_cache(nic: Nic, layout: Layout, vi: int) -> QueueCache:
    """The receive queue cache of a VI: in a page of its process, or in the kernel's part."""
    if vi and layout.options.user_level:
        at, (base, words) = layout.page(vi), layout.queues.receives
        return QueueCache(nic, at + base, words, at, at, vi=vi, user=True)
    words, size = layout.vi(vi, Vi.STATE), layout.options.receive_words
    counters = words + Vi.RECEIVE_TAIL, words + Vi.RECEIVE_HEAD
    return QueueCache(nic, layout.ring(vi), size, *counters, words + Vi.QUEUED, vi)
