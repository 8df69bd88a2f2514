"""VI on the NIC: its work queues, its state, its connection."""

from __future__ import annotations

from firmware.verbs import Nic
from firmware.via.nic.connection import Connection
from firmware.via.nic.layout import Layout, State, Vi
from firmware.via.nic.queue_cache import QueueCache
from firmware.via.nic.receive_queue import ReceiveQueue
from firmware.via.nic.user_pages import Pair
from firmware.via.nic.words import ModeWord, PeerWord


class Endpoint:
    """VI on the NIC: variables of the firmware. Words that the kernel reads are in SRAM."""

    def __init__(self, nic: Nic, layout: Layout, number: int) -> None:
        self._nic = nic
        self.number = number
        self.words = layout.vi(number, Vi.STATE)
        receives = receive_cache(nic, layout, number)
        self.receives = ReceiveQueue(receives)
        self.sends = send_cache(nic, layout, number) if layout.options.user_level else None
        """Send queue cache of the VI's process, with user-level doorbells."""
        self.user = receives.user
        """True if the process posts without the kernel."""
        self.owned = False
        """True if a process owns the VI and writes its queue caches."""
        self.generation = 0
        self.connection = Connection()
        """Present or last connection."""
        self.acknowledged = 0
        """Number of completed sends of reliable connections, since the start."""
        self.left = 0
        """Number of sends of reliable connections that have left or were abandoned, since the start."""

    def state(self) -> State:
        """Return the state. A new generation in SRAM replaces the connection."""
        generation, state = divmod(self._nic.load(self.words), 256)
        if generation != self.generation:
            self.generation = generation
            words = self._nic.load_words(self.words + Vi.PEER, 2)
            peer, mode = PeerWord(words[0]), ModeWord(words[1])
            self.connection = Connection(peer.node, peer.vi, peer.connection, mode.reliability, mode.rights)
        return State(state)

    def connected(self, connection: Connection) -> bool:
        """Return True if the VI has this connection and it is not broken."""
        return self.state() is State.CONNECTED and self.connection is connection

    def leave(self) -> None:
        """Remove the owner: its posted descriptors are discarded, without reports."""
        self.owned = False
        self.connection = Connection()
        self.receives.ahead.clear()

    def reset(self) -> None:
        """Set a new owner, a process that rings doorbells itself and whose queue caches are empty."""
        assert self.sends is not None
        self.owned = True
        self.receives.cache.restart()
        pair = self._nic.load(self.words + Vi.PAIR)
        self.receives.cache.move(pair + Pair.RECEIVE_TAIL, pair + Pair.RECEIVE_HEAD)
        self.sends.move(pair + Pair.SEND_TAIL, pair + Pair.SEND_HEAD)
        self.sends.restart()

    def count_left(self) -> None:
        """Count a send that has left or was abandoned, in a word for the kernel."""
        self.left = self.left + 1 & 0xFFFFFFFF
        self._nic.store_on(self.words + Vi.LEFT, (self.left,))

    def tag(self) -> int:
        """Return the protection tag."""
        return self._nic.load(self.words + Vi.TAG)


def send_cache(nic: Nic, layout: Layout, vi: int) -> QueueCache:
    """Return the send queue cache in the page of a VI's process. The kernel sets the addresses of its counters."""
    at, (base, words) = layout.page(vi), layout.queues.sends
    return QueueCache(nic, at + base, words, at, at, vi=vi, user=True, tail_by_doorbell=layout.options.doorbell == "hw")


def receive_cache(nic: Nic, layout: Layout, vi: int) -> QueueCache:
    """Return the receive queue cache of a VI, in a page of its process or in the kernel's memory."""
    if vi and layout.options.user_level:
        at, (base, words) = layout.page(vi), layout.queues.receives
        return QueueCache(nic, at + base, words, at, at, vi=vi, user=True)
    words, size = layout.vi(vi, Vi.STATE), layout.options.receive_words
    counters = words + Vi.RECEIVE_TAIL, words + Vi.RECEIVE_HEAD
    return QueueCache(nic, layout.ring(vi), size, *counters, words + Vi.QUEUED, vi)
