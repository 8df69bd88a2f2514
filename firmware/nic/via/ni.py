"""What all parts of the NIC's program share: the machine, the map of its memory, its VIs, counters, numbers."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from firmware.layers import ClusterView
from firmware.nic.hardware import PacketPort
from firmware.nic.via.incoming import Incoming
from firmware.nic.via.layout import EVENTS, VALID, Counter, Event, Layout, State, Vi, Word
from firmware.nic.via.options import Options
from firmware.nic.via.queue_cache import QueueCache
from firmware.nic.via.user_pages import Pair
from firmware.verbs import Nic
from pymodels.formats.via import NUMBER, SEQUENCE, Header, Reliability, Status

if TYPE_CHECKING:
    from firmware.nic.via.descriptors import Work
    from firmware.nic.via.rdma_writes import Writing


@dataclass
class Unanswered:
    """A message of a reliable connection that its target has not answered."""

    number: int
    """As its packets have it, and its answer."""
    descriptor: int
    """Physical address of its descriptor; 0: it has none any more."""
    home: int
    """Handle of the region in which that stands; 0: the kernel sees to it that it stays."""
    length: int
    operation: int
    """Bits of its status."""
    reading: Incoming | None = None
    """Of an RDMA read: where its data go."""
    over: bool = False
    """It is answered, or its data are here."""


@dataclass
class Connection:
    """What belongs to one connection of a VI, and not to the next one. Its messages remember it, not its VI."""

    node: int = 0
    peer: int = 0
    number: int = 0
    """Both ends know it by that, and no other one between the two VIs that packets could still come from."""
    reliability: int = int(Reliability.UNRELIABLE)
    rights: int = 0
    """Of its peer: RDMA_WRITE, RDMA_READ."""
    sequence: int = 0
    """Of the next packet out."""
    expected: int = 0
    """Sequence number of the next packet in."""
    coming: int = 0
    """Number of the message whose packets come."""
    whole: bool = True
    """All of it has come."""
    unanswered: deque[Unanswered] = field(default_factory=deque)
    receiving: Incoming | None = None
    """The message that arrives."""
    writing: Writing | None = None
    """The RDMA write that arrives."""
    behind_write: bool = False
    """Pieces of RDMA writes were left to the kernel: what comes next waits until they are where they belong."""
    blamed: int | None = None
    """Number of the message that broke it; None: the one that is sent."""
    verdict: Status = Status.FLUSHED
    """Status of that message."""

    @property
    def reliable(self) -> bool:
        """It answers."""
        return self.reliability != Reliability.UNRELIABLE

    def next_sequence(self) -> int:
        """The number of a packet that leaves."""
        number = self.sequence
        self.sequence = number + 1 & SEQUENCE
        return number

    def passed(self, header: Header) -> bool:
        """A packet that was there before, or was missing when a later one came: the network has doubled or delayed it.
        Half of the sequence numbers are before the next one.
        """
        return self.expected - 1 - header.sequence & SEQUENCE <= SEQUENCE // 2

    def came(self, header: Header) -> bool:
        """A packet has come; whether it is the one behind the last."""
        more = header.first or (header.number == self.coming and not self.whole)
        follows = more and header.sequence == self.expected
        self.expected = header.sequence + 1 & SEQUENCE
        self.coming, self.whole = header.number, header.last
        return follows

    def end_of(self, number: int) -> Status:
        """What becomes of a message that was being sent when it broke."""
        return self.verdict if self.blamed in (None, number) else Status.FLUSHED


class Endpoint:
    """A VI as the NIC knows it. Private variables of the firmware; what the kernel sees stands in SRAM."""

    def __init__(self, nic: Nic, layout: Layout, number: int) -> None:
        self._nic = nic
        self.number = number
        self.words = layout.vi(number, Vi.STATE)
        self.receives = receive_ring(nic, layout, number)
        self.sends = send_ring(nic, layout, number) if layout.options.user_level else None
        """The send queue cache of its process."""
        self.owned = False
        """A process has it, and writes its queue caches itself."""
        self.prefetched: deque[Work] = deque()
        """Receive descriptors that were fetched before they are needed."""
        self.generation = 0
        self.connection = Connection()
        """The present one, or the last one."""
        self.answered = 0
        """Sends of reliable connections that are over, from the start."""
        self.left = 0
        """And that have left, or will not leave."""

    def state(self) -> State:
        """Its state; when the kernel has begun a new generation, so does another connection."""
        generation, state = divmod(self._nic.load(self.words), 256)
        if generation != self.generation:
            self.generation = generation
            peer, mode = self._nic.load_words(self.words + Vi.PEER, 2)
            number, node, vi = peer >> 16, peer >> 8 & 0xFF, peer & 0xFF
            self.connection = Connection(node, vi, number, mode & 0xFF, mode >> 8)
        return State(state)

    def connected(self, connection: Connection) -> bool:
        """Whether it has this connection, and it is not broken."""
        return self.state() is State.CONNECTED and self.connection is connection

    def leave(self) -> None:
        """Nobody has it. What its process has posted counts no more, and nobody hears of its end."""
        self.owned = False
        self.connection = Connection()
        self.prefetched.clear()

    def reset(self) -> None:
        """It has a new owner, whose queue caches are empty: a process that rings by itself."""
        assert self.sends is not None
        self.owned = True
        self.receives.restart()
        pair = self._nic.load(self.words + Vi.PAIR)
        self.receives.move(pair + Pair.RECEIVE_TAIL, pair + Pair.RECEIVE_HEAD)
        self.sends.move(pair + Pair.SEND_TAIL, pair + Pair.SEND_HEAD)
        self.sends.restart()

    def count_left(self) -> None:
        """A send of a reliable connection has left, or will not leave: the kernel sees it."""
        self.left = self.left + 1 & 0xFFFFFFFF
        self._nic.store(self.words + Vi.LEFT, self.left)

    def tag(self) -> int:
        """Its protection tag."""
        return self._nic.load(self.words + Vi.TAG)


def send_ring(nic: Nic, layout: Layout, vi: int) -> QueueCache:
    """The send queue cache in the page of a VI's process; its counters stand where the kernel says."""
    at, (base, words) = layout.page(vi), layout.queues.sends
    return QueueCache(nic, at + base, words, at, at, vi=vi, user=True, told=layout.options.doorbell == "hw")


def receive_ring(nic: Nic, layout: Layout, vi: int) -> QueueCache:
    """The receive queue cache of a VI: in a page of its process, or in the kernel's part."""
    if vi and layout.options.user_level:
        at, (base, words) = layout.page(vi), layout.queues.receives
        return QueueCache(nic, at + base, words, at, at, vi=vi, user=True)
    words, size = layout.vi(vi, Vi.STATE), layout.options.receive_words
    counters = words + Vi.RECEIVE_TAIL, words + Vi.RECEIVE_HEAD
    return QueueCache(nic, layout.ring(vi), size, *counters, words + Vi.QUEUED, vi)


class Ni:
    """One NIC."""

    def __init__(self, nic: Nic, view: ClusterView, port: PacketPort, layout: Layout) -> None:
        self.nic, self.port, self.layout = nic, port, layout
        self.options: Options = layout.options
        self.me = view.me
        self.endpoints = [Endpoint(nic, layout, number) for number in range(self.options.vis)]
        self._counts = [0] * len(Counter)
        self._number = 0
        self._event = 0
        self.fenced = 0
        """How often memory was taken back: what was checked before that counts no more."""
        self.stores = 0
        """How many were given to the port."""

    async def store(self, address: int, words: tuple[int, ...]) -> None:
        """Words to host memory, behind everything that was delivered before."""
        self.stores += 1
        await self.port.store(address, words)

    def number(self) -> int:
        """The number of a message of this node."""
        self._number = self._number + 1 & NUMBER
        return self._number

    def key(self, connection: Connection, number: int) -> int:
        """The first word of a message's packets."""
        return self.me << 24 | connection.number << 16 | number

    def count(self, counter: Counter) -> None:
        """Count something, where the host can read it."""
        self._counts[counter] = value = self._counts[counter] + 1 & 0xFFFFFFFF
        self.nic.store(Word.COUNTERS + 4 * counter, value)

    async def tell(self, event: Event, vi: int, detail: int = 0) -> None:
        """Tell the kernel: a word of its event ring, and an interrupt."""
        await self.nic.work("tell_kernel")
        at = self.nic.load(Word.KERNEL) + 4 * self._event
        self._event = (self._event + 1) % EVENTS
        await self.store(at, (VALID | event << 24 | vi << 16 | detail,))
        await self.port.interrupt()
