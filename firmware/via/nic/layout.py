"""Layout of the NIC's memory, and format of physical descriptors, for both NIC and host.

A physical descriptor (paper 001, 3.2.2) in a queue cache, in words:

    control (PDCS)   kind (2) | immediate (1) | inline (1) | VI (7) | refused (1) | 0 | entries (16)
                     physical address of the user's descriptor
                     bytes of the message; for VI 0 the node above them (16 | 16); of a rejected descriptor its status
    RDMA only        virtual address and memory handle at the target
    immediate only   the immediate data (sends)
    data (PDDS)      for each page: physical address, bytes; or, inline, the bytes themselves

Queue caches are rings of words. Heads and tails count words modulo 2^32. The kernel writes the words of a VI and its
own words, except heads.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from firmware.options import OptionError
from firmware.via.nic.user_pages import PAGE, Pair, queues_of
from firmware.via.options import Options
from pymodels.codes import quick


@quick
class Word(IntEnum):
    """Byte addresses of the words shared by kernel and NIC [writer]."""

    KERNEL = 0x00
    """Physical address of the event ring; nonzero when the driver is ready [kernel]."""
    SEND_HEAD = 0x04
    """Head of the central send queue cache [NIC]."""
    SEND_TAIL = 0x08
    """Tail of the central send queue cache [kernel]."""
    COMMAND_TAIL = 0x0C
    """Tail of the command ring [kernel], beside SEND_TAIL so that one sample reads both."""
    SEND_QUEUED = 0x10
    """`QUEUED`: descriptors for the send queue wait at the host [kernel]; `ASKED`: refill requested [NIC]."""
    COMMAND_HEAD = 0x14
    """Head of the command ring [NIC]."""
    COUNTERS = 0x40
    """Counters, see `Counter` [NIC]."""
    REFILLS = 0x18
    """Number of refills of queue caches [kernel]."""
    WRITES = 0x1C
    """Physical address of the slots of the kernel's buffer for RDMA writes [kernel]."""
    WRITES_TAKEN = 0x20
    """Number of emptied slots [kernel]."""
    SCRATCH = 0x24
    """Physical address of a word that is never read [kernel]."""
    NEWS = 0x28
    """Number of updates of the tails above [kernel]. A NIC that polls words of processes polls this word instead."""
    WRITES_REFUSED = 0x2C
    """Bit for each slot: the last write in the slot was rejected [kernel]."""
    COMMANDS = 0x80
    """Start of the command ring."""
    END = 0x180


COMMAND_WORDS = 64
"""Words of the command ring, more than there are slots for RDMA writes.

Each slot may be answered by a command while the NIC waits for a slot.
"""
QUEUED, ASKED = 1, 2
"""Values of the flag of a queue cache: more descriptors wait at the host; a refill has been requested."""


@quick
class Counter(IntEnum):
    """Events that the NIC counts in 32-bit words from COUNTERS on."""

    BAD_CRC = 0
    NOT_CONNECTED = 1
    """Packets for a VI that is not connected to their source."""
    NO_DESCRIPTOR = 2
    """Messages of unreliable connections without a receive descriptor."""
    LOST = 3
    """Gaps in sequence numbers."""
    HITS = 6
    """Translations found in the cache."""
    MISSES = 7
    """Translations not found in the cache."""
    NOT_ALLOWED = 5
    """RDMA operations on memory that does not allow them."""
    PASSED = 8
    """Packets that were duplicated or delayed by the network."""
    STALLED = 4
    """Packets that waited for the refill of a receive queue cache."""


@quick
class Vi(IntEnum):
    """Byte offsets of the words of a VI [writer]."""

    STATE = 0
    """Generation (24) | `State` (8). A new generation starts with empty queues [kernel; NIC: ERROR]."""
    PEER = 4
    """`PeerWord` [kernel]."""
    MODE = 8
    """`ModeWord` [kernel]."""
    RECEIVE_TAIL = 12
    """Tail of the receive queue cache [kernel]."""
    RECEIVE_HEAD = 16
    """Head of the receive queue cache [NIC]."""
    QUEUED = 20
    """`QUEUED`: receive descriptors wait at the host [kernel]; `ASKED`: refill requested [NIC]."""
    NOTIFY = 24
    """Interrupt at the next completion: bit 0 of a send, bit 1 of a receive [kernel]."""
    SEND_QUEUE = 28
    """Completion queue of the send queue, counted from 1; 0 for none [kernel]."""
    RECEIVE_QUEUE = 32
    """Completion queue of the receive queue, counted from 1; 0 for none [kernel]."""
    TAG = 36
    """Protection tag [kernel]."""
    MOST = 40
    """Maximum message size in bytes [kernel]."""
    PAIR = 48
    """SRAM address of the VI's doorbells [kernel]."""
    ANSWERED = 44
    """Number of completed sends of reliable connections [NIC]."""
    LEFT = 52
    """Number of sends that have left or were abandoned [NIC]. Those not yet completed await acknowledgements."""
    BYTES = 64


@quick
class State(IntEnum):
    """State of a VI."""

    CLOSED = 0
    """Unconnected: receive descriptors may be posted, and no packet is accepted."""
    CONNECTED = 1
    ERROR = 2
    """Connection broken: all posted descriptors are flushed."""


@quick
class Queue(IntEnum):
    """Byte offsets of the words of a completion queue [kernel]."""

    ADDRESS = 0
    """Physical address of the ring in host memory."""
    ENTRIES = 4
    BYTES = 8


@quick
class Region(IntEnum):
    """Byte offsets of the words of a registered region that RDMA operations may name [kernel]."""

    HANDLE = 0
    VA = 4
    SIZE = 8
    TAG = 12
    TABLE = 16
    """Address of the region's table, one frame a word. Without tables, physical address of the first page."""
    FLAGS = 20
    """`RDMA_WRITE`, `RDMA_READ`."""
    BYTES = 32


RDMA_WRITE, RDMA_READ = 1, 2
"""Rights of remote NICs to a region: write, read."""
INDEX_BITS = 12
"""Number of low bits of a memory handle that index the region table."""


@quick
class Event(IntEnum):
    """Events that the NIC reports to the kernel by an `EventWord` of the event ring."""

    BROKEN = 1
    """Broken connection; the detail is the generation of the VI."""


EVENTS = 256
"""Words of the event ring."""
VALID = 1 << 31
"""Flag of a valid entry of the event ring or of a completion queue."""
ROUND, ROUNDS = 10, (1 << 21) - 1
"""Position and mask of the round in a completion-queue entry: the number of times that the NIC has wrapped the ring.

The reader detects an overrun by it.
"""


@quick
class Command(IntEnum):
    """Commands of the kernel to the NIC, in a `CommandWord`. Commands for an older generation of a VI are ignored."""

    FLUSH = 1
    """Complete all posted descriptors as flushed."""
    BREAK = 2
    """Complete all posted descriptors as flushed, except that the oldest unacknowledged message has failed."""
    COPIED = 3
    """Read the number of emptied RDMA slots: a message needs an acknowledgement."""
    RESET = 5
    """Begin with a new owner of a VI, whose page is empty."""
    FENCE = 6
    """Stop using all translations made before this command."""
    LEAVE = 7
    """End the ownership of a VI: ignore its page, and discard its posted descriptors."""
    QUEUE = 8
    """Take over the ring of a completion queue, from its first entry; a ring without entries destroys the queue."""
    LOOK = 9
    """Complete a rejected receive descriptor now if no valid one is before it."""


@quick
class Kind(IntEnum):
    """Kind of a physical descriptor."""

    RECEIVE = 0
    SEND = 1
    WRITE = 2
    READ = 3


class Control(NamedTuple):
    """First word of a physical descriptor."""

    kind: int
    immediate: bool
    inline: bool
    vi: int
    entries: int
    refused: bool = False
    """True for a descriptor that the kernel has rejected. It completes in its turn with the kernel's status."""

    def word(self) -> int:
        """Return the encoded word."""
        flags = self.kind << 30 | self.immediate << 29 | self.inline << 28 | self.refused << 20
        return flags | self.vi << 21 | self.entries

    @classmethod
    def decode(cls, word: int) -> Control:
        """Return the fields of a control word."""
        flags = bool(word >> 29 & 1), bool(word >> 28 & 1)
        return cls(word >> 30, *flags, word >> 21 & 0x7F, word & 0xFFFF, bool(word >> 20 & 1))


CONTROL_WORDS, PAGE_WORDS = 3, 2
"""Words of a physical descriptor, and of each entry of its page list."""


class Layout:
    """Addresses in the NIC's memory, computed from the options."""

    def __init__(self, options: Options, sram_bytes: int) -> None:
        """Compute the layout. Raises OptionError if the NIC's memory is too small."""
        self.options = options
        self.vis = int(Word.END)
        self.completion = self.vis + Vi.BYTES * options.vis
        self.regions = self.completion + Queue.BYTES * options.queues
        self.send = self.regions + Region.BYTES * options.regions
        self.receive = self.send + 4 * options.send_words
        caches = 1 if options.user_level else options.vis
        self.pages = self.receive + 4 * options.receive_words * caches + PAGE - 1 & -PAGE
        self.queues = queues_of(options)
        self.pairs = self.pages + PAGE * options.vis if options.user_level else self.pages
        """Start of the doorbells: with option `pages=process`, a page for each process."""
        shared = options.user_level and options.pages == "process"
        self.bells = self.pairs + PAGE * options.processes if shared else self.pairs
        self.tables = self.bells + PAGE if options.doorbell == "hw" else self.bells
        """Start of the tables of regions, with at2. The doorbell FIFO is before them."""
        self.port = self.tables + 4 * options.table_words if options.translation == "at2" else self.tables
        """Start of the packet port's memory, which extends to the end."""
        need = self.port + 16 * (options.packet + 64) + PAGE
        if need > sram_bytes:
            what = f"{options.vis} VIs with receive queue caches of {options.receive_words} words"
            remedy = "lower via.vis, via.receive_words, via.send_words or via.table_words"
            raise OptionError(what, f"need {need} bytes, but the NIC has {sram_bytes}", remedy)

    def vi(self, number: int, word: Vi) -> int:
        """Return the address of a word of a VI."""
        return self.vis + Vi.BYTES * number + word

    def page(self, vi: int) -> int:
        """Return the address of the page with a VI's queue caches."""
        return self.pages + PAGE * vi

    def pair(self, vi: int, process: int) -> int:
        """Return the address of a VI's doorbells.

        Args:
            vi: Number of the VI.
            process: Index of the doorbell page of the owner.
        """
        return self.page(vi) if self.options.pages == "vi" else self.pairs + PAGE * process + Pair.BYTES * vi

    def ring(self, vi: int) -> int:
        """Return the address of a VI's receive queue cache."""
        return self.receive + 4 * self.options.receive_words * vi

    def has_region(self, handle: int) -> bool:
        """Return True if a handle is in the range of the region table."""
        return handle & (1 << INDEX_BITS) - 1 < self.options.regions

    def region(self, handle: int) -> int:
        """Return the address of the words of a region."""
        return self.regions + Region.BYTES * (handle & (1 << INDEX_BITS) - 1)

    def queue(self, number: int) -> int:
        """Return the address of the words of a completion queue."""
        return self.completion + Queue.BYTES * number
