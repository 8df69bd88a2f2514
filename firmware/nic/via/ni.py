"""What all parts of the NIC's program share: the machine, the map of its memory, its VIs, counters, numbers."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from firmware.layers import ClusterView
from firmware.nic.hardware import PacketPort
from firmware.nic.via.incoming import Incoming
from firmware.nic.via.layout import EVENTS, VALID, Counter, Event, Layout, State, Vi, Word
from firmware.nic.via.options import Options
from firmware.nic.via.ring import Ring
from firmware.nic.via.user_pages import Pair
from firmware.verbs import Nic
from pymodels.formats.via import SEQUENCE, Reliability, Status

if TYPE_CHECKING:
    from firmware.nic.via.work import Work
    from firmware.nic.via.writes import Writing


@dataclass
class Unanswered:
    """A message of a reliable connection that its target has not answered."""

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


class Endpoint:
    """A VI as the NIC knows it. Private variables of the firmware; what the kernel sees stands in SRAM."""

    def __init__(self, nic: Nic, layout: Layout, number: int) -> None:
        self._nic = nic
        self.number = number
        self.words = layout.vi(number, Vi.STATE)
        self.receives = receive_ring(nic, layout, number)
        self.sends = send_ring(nic, layout, number) if layout.options.user_level else None
        """The send queue cache of its process."""
        self.prefetched: deque[Work] = deque()
        """Receive descriptors that were fetched before they are needed."""
        self.generation = 0
        self.sequence = 0
        """Of the next packet out."""
        self.expected = 0
        """Sequence number of the next packet in."""
        self.unanswered: deque[Unanswered] = deque()
        self.node = self.peer = 0
        self.reliability = int(Reliability.UNRELIABLE)
        self.rights = 0
        """Of its peer: RDMA_WRITE, RDMA_READ."""
        self.receiving: Incoming | None = None
        """The message that arrives."""
        self.writing: Writing | None = None
        """The RDMA write that arrives."""
        self.answered = 0
        """Sends of reliable connections that are over, from the start."""
        self.verdict = Status.FLUSHED
        """Of a message that is sent while the connection breaks."""

    def state(self) -> State:
        """Its state; when the kernel has begun a new generation, everything private begins anew."""
        generation, state = divmod(self._nic.load(self.words), 256)
        if generation != self.generation:
            self.generation = generation
            self.sequence = self.expected = 0
            self.unanswered.clear()
            self.receiving, self.writing, self.verdict = None, None, Status.FLUSHED
            peer, mode = self._nic.load_words(self.words + Vi.PEER, 2)
            self.node, self.peer, self.reliability, self.rights = peer >> 8, peer & 0xFF, mode & 0xFF, mode >> 8
        return State(state)

    def reset(self) -> None:
        """It has a new owner, whose queue caches are empty."""
        self.receives.restart()
        self.prefetched.clear()
        if self.sends is not None:
            pair = self._nic.load(self.words + Vi.PAIR)
            self.receives.move(pair + Pair.RECEIVE_TAIL, pair + Pair.RECEIVE_HEAD)
            self.sends.move(pair + Pair.SEND_TAIL, pair + Pair.SEND_HEAD)
            self.sends.restart()

    def tag(self) -> int:
        """Its protection tag."""
        return self._nic.load(self.words + Vi.TAG)

    @property
    def reliable(self) -> bool:
        """Its connection answers."""
        return self.reliability != Reliability.UNRELIABLE

    def next_sequence(self) -> int:
        """The number of a packet that leaves."""
        number = self.sequence
        self.sequence = number + 1 & SEQUENCE
        return number


def send_ring(nic: Nic, layout: Layout, vi: int) -> Ring:
    """The send queue cache in the page of a VI's process; its counters stand where the kernel says."""
    at, (base, words) = layout.page(vi), layout.queues.sends
    return Ring(nic, at + base, words, at, at, vi=vi, user=True, told=layout.options.doorbell == "hw")


def receive_ring(nic: Nic, layout: Layout, vi: int) -> Ring:
    """The receive queue cache of a VI: in a page of its process, or in the kernel's part."""
    if vi and layout.options.user_level:
        at, (base, words) = layout.page(vi), layout.queues.receives
        return Ring(nic, at + base, words, at, at, vi=vi, user=True)
    words, size = layout.vi(vi, Vi.STATE), layout.options.receive_words
    counters = words + Vi.RECEIVE_TAIL, words + Vi.RECEIVE_HEAD
    return Ring(nic, layout.ring(vi), size, *counters, words + Vi.QUEUED, vi)


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
        """The number of a message of this node, in 24 bits."""
        self._number = self._number + 1 & 0xFFFFFF
        return self._number

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
