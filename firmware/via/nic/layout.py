"""Where things stand in the NIC's memory, and what a physical descriptor looks like. Both sides read this file.

A physical descriptor (paper 001, 3.2.2) in a queue cache, in words:

    control (PDCS)   kind (2) | immediate (1) | inline (1) | VI (7) | refused (1) | 0 | entries (16)
                     physical address of the user's descriptor
                     bytes of the message; for VI 0 the node above them (16 | 16); of a refused one its status
    RDMA only        virtual address and memory handle at the target
    immediate only   the immediate data (sends)
    data (PDDS)      for each page: physical address, bytes; or, inline, the bytes themselves

Queue caches are rings of words; heads and tails count words and wrap at 2^32. A VI's or the kernel's own words are
written by the kernel, except heads.
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
    """Words of the kernel and the NIC [who writes], byte addresses."""

    KERNEL = 0x00
    """Physical address of the event ring; not 0 = the driver is ready [kernel]."""
    SEND_HEAD = 0x04
    """Of the central send queue cache [NIC]."""
    SEND_TAIL = 0x08
    """[kernel]"""
    COMMAND_TAIL = 0x0C
    """Of the command ring [kernel]; beside the other tail, so that one look sees both."""
    SEND_QUEUED = 0x10
    """`QUEUED`: descriptors for the send queue wait at the host [kernel]; `ASKED` [NIC]."""
    COMMAND_HEAD = 0x14
    """[NIC]"""
    COUNTERS = 0x40
    """`Counter` [NIC]."""
    REFILLS = 0x18
    """Counted up by the kernel after each refill of queue caches."""
    WRITES = 0x1C
    """Physical address of the kernel's buffer for RDMA writes: slots [kernel]."""
    WRITES_TAKEN = 0x20
    """How many slots the kernel has emptied [kernel]."""
    SCRATCH = 0x24
    """Physical address of a word that nobody reads [kernel]."""
    NEWS = 0x28
    """Counted up after each new tail above, where the NIC polls words of processes: it looks at this only [kernel]."""
    WRITES_REFUSED = 0x2C
    """A bit for each slot: what was there last may not be written [kernel]."""
    COMMANDS = 0x80
    """The command ring."""
    END = 0x180


COMMAND_WORDS = 64
"""More than there are slots for RDMA writes: each may be answered by a command while the NIC waits for a slot."""
QUEUED, ASKED = 1, 2
"""The flag beside a queue cache: more waits at the host; and an interrupt for it is on its way."""


@quick
class Counter(IntEnum):
    """What the NIC counts, 32-bit words from COUNTERS on."""

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
    """And not found."""
    NOT_ALLOWED = 5
    """RDMA writes to memory that they may not write."""
    PASSED = 8
    """Packets that came twice, or behind later ones."""
    STALLED = 4
    """A packet waited for the refill of a receive queue cache."""


@quick
class Vi(IntEnum):
    """The words of a VI [who writes], byte offsets."""

    STATE = 0
    """Generation (24) | `State` (8): a new generation starts with empty queues [kernel, NIC: ERROR]."""
    PEER = 4
    """`PeerWord` [kernel]."""
    MODE = 8
    """`ModeWord` [kernel]."""
    RECEIVE_TAIL = 12
    """Of its receive queue cache [kernel]."""
    RECEIVE_HEAD = 16
    """[NIC]"""
    QUEUED = 20
    """`QUEUED`: receive descriptors wait at the host [kernel]; `ASKED` [NIC]."""
    NOTIFY = 24
    """Interrupt at the next completion of: 1 a send, 2 a receive [kernel]."""
    SEND_QUEUE = 28
    """Completion queue of the send queue, from 1; 0: none [kernel]."""
    RECEIVE_QUEUE = 32
    """The same of the receive queue [kernel]."""
    TAG = 36
    """Protection tag [kernel]."""
    MOST = 40
    """Bytes of a message at most [kernel]."""
    PAIR = 48
    """Address of its doorbells [kernel]."""
    ANSWERED = 44
    """How many sends of reliable connections are over [NIC]."""
    LEFT = 52
    """How many have left, or will not leave [NIC]: the others of them wait for answers."""
    BYTES = 64


@quick
class State(IntEnum):
    """Of a VI."""

    CLOSED = 0
    """Receive descriptors may be posted, nothing arrives."""
    CONNECTED = 1
    ERROR = 2
    """The connection is broken: whatever is posted is flushed."""


@quick
class Queue(IntEnum):
    """The words of a completion queue [kernel], byte offsets."""

    ADDRESS = 0
    """Physical, of its ring of words in host memory."""
    ENTRIES = 4
    BYTES = 8


@quick
class Region(IntEnum):
    """The words of a registered region that NICs of others may write [kernel], byte offsets."""

    HANDLE = 0
    VA = 4
    SIZE = 8
    TAG = 12
    TABLE = 16
    """Physical address of its table: the frame of each page, a word; without tables, that of its first page."""
    FLAGS = 20
    """`RDMA_WRITE`, `RDMA_READ`."""
    BYTES = 32


RDMA_WRITE, RDMA_READ = 1, 2
"""Others may write it, and read it."""
INDEX_BITS = 12
"""Low bits of a memory handle: where in the table its region stands."""


@quick
class Event(IntEnum):
    """What the NIC tells the kernel: in a word of the event ring, `EventWord`."""

    BROKEN = 1
    """A connection; detail: the generation of the VI."""


EVENTS = 256
"""Words of the event ring."""
VALID = 1 << 31
"""An entry of the event ring or of a completion queue is there."""
ROUND, ROUNDS = 10, (1 << 21) - 1
"""Bits of a completion queue's entry that say how often the NIC has gone round the ring before: who looks sees when it
has been overrun.
"""


@quick
class Command(IntEnum):
    """What the kernel tells the NIC: in a `CommandWord` of the command ring. What is meant for an older generation
    of a VI is not done.
    """

    FLUSH = 1
    """Complete all that is posted as flushed."""
    BREAK = 2
    """The same, but the oldest message without an answer has failed."""
    COPIED = 3
    """Look how many slots with RDMA writes are emptied: there is something to answer."""
    RESET = 5
    """A VI has a new owner: its page is empty."""
    FENCE = 6
    """Done when nothing that was translated before is used any more."""
    LEAVE = 7
    """A VI has no owner any more: its page is not looked at, and what was posted is forgotten."""
    QUEUE = 8
    """A completion queue, by its number, has the ring that its words say, from its first entry on. Of no entries: it
    is no more.
    """
    LOOK = 9
    """A receive descriptor is posted that the kernel has refused: it is done now if no other one is before it."""


@quick
class Kind(IntEnum):
    """Of a physical descriptor."""

    RECEIVE = 0
    SEND = 1
    WRITE = 2
    READ = 3


class Control(NamedTuple):
    """The first word of a physical descriptor."""

    kind: int
    immediate: bool
    inline: bool
    vi: int
    entries: int
    refused: bool = False
    """The kernel has found something wrong with the descriptor: it is completed in its turn, with that status."""

    def word(self) -> int:
        """As it stands in the queue."""
        flags = self.kind << 30 | self.immediate << 29 | self.inline << 28 | self.refused << 20
        return flags | self.vi << 21 | self.entries

    @classmethod
    def of(cls, word: int) -> Control:
        """The fields of a control word."""
        flags = bool(word >> 29 & 1), bool(word >> 28 & 1)
        return cls(word >> 30, *flags, word >> 21 & 0x7F, word & 0xFFFF, bool(word >> 20 & 1))


CONTROL_WORDS, PAGE_WORDS = 3, 2
"""Words of a physical descriptor, and of each entry of its list."""


class Layout:
    """Addresses in the NIC's memory, from the options."""

    def __init__(self, options: Options, sram_bytes: int) -> None:
        """Raises OptionError when the NIC's memory cannot hold what is asked."""
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
        """With pages of processes: these."""
        shared = options.user_level and options.pages == "process"
        self.bells = self.pairs + PAGE * options.processes if shared else self.pairs
        self.tables = self.bells + PAGE if options.doorbell == "hw" else self.bells
        """Tables of regions, with at2; before them the doorbell FIFO."""
        self.port = self.tables + 4 * options.table_words if options.translation == "at2" else self.tables
        """From here on the packet port's."""
        need = self.port + 16 * (options.packet + 64) + PAGE
        if need > sram_bytes:
            what = f"{options.vis} VIs with receive queue caches of {options.receive_words} words"
            remedy = "lower via.vis, via.receive_words, via.send_words or via.table_words"
            raise OptionError(what, f"need {need} bytes of a NIC with {sram_bytes}", remedy)

    def vi(self, number: int, word: Vi) -> int:
        """Address of a word of a VI."""
        return self.vis + Vi.BYTES * number + word

    def page(self, vi: int) -> int:
        """Address of the page of a VI's process."""
        return self.pages + PAGE * vi

    def pair(self, vi: int, process: int) -> int:
        """Address of the doorbells of a VI, which a process has whose page is this one."""
        return self.page(vi) if self.options.pages == "vi" else self.pairs + PAGE * process + Pair.BYTES * vi

    def ring(self, vi: int) -> int:
        """Address of a VI's receive queue cache."""
        return self.receive + 4 * self.options.receive_words * vi

    def has_region(self, handle: int) -> bool:
        """Whether a handle can name a region."""
        return handle & (1 << INDEX_BITS) - 1 < self.options.regions

    def region(self, handle: int) -> int:
        """Address of the words of a region."""
        return self.regions + Region.BYTES * (handle & (1 << INDEX_BITS) - 1)

    def queue(self, number: int) -> int:
        """Address of the words of a completion queue."""
        return self.completion + Queue.BYTES * number
