"""Where things stand in the NIC's memory, and what a physical descriptor looks like. Both sides read this file.

A physical descriptor (paper 001, 3.2.2) in a queue cache, in words:

    control (PDCS)   kind (2) | immediate (1) | inline (1) | VI (7) | 0 | entries (16)
                     physical address of the user's descriptor
                     bytes of the message; for VI 0 the node above them (16 | 16)
    RDMA write only  virtual address and memory handle at the target
    immediate only   the immediate data (sends)
    data (PDDS)      for each page: physical address, bytes; or, inline, the bytes themselves

Queue caches are rings of words; heads and tails count words and wrap at 2^32. A VI's or the kernel's own words are
written by the kernel, except heads.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from firmware.nic.via.options import OptionError, Options


class Word(IntEnum):
    """Words of the kernel and the NIC [who writes], byte addresses."""

    KERNEL = 0x00
    """Physical address of the event ring; not 0 = the driver is ready [kernel]."""
    SEND_TAIL = 0x04
    """Of the central send queue cache [kernel]."""
    SEND_HEAD = 0x08
    """[NIC]"""
    SEND_QUEUED = 0x0C
    """`QUEUED`: descriptors for it wait at the host [kernel]; `ASKED` [NIC]."""
    COMMAND_TAIL = 0x10
    """Of the command ring [kernel]."""
    COMMAND_HEAD = 0x14
    """[NIC]"""
    COUNTERS = 0x40
    """`Counter` [NIC]."""
    REFILLS = 0x18
    """Counted up by the kernel after each refill of queue caches."""
    COMMANDS = 0x80
    """The command ring."""
    END = 0xC0


COMMAND_WORDS = 16
QUEUED, ASKED = 1, 2
"""The flag beside a queue cache: more waits at the host; and an interrupt for it is on its way."""


class Counter(IntEnum):
    """What the NIC counts, 32-bit words from COUNTERS on."""

    BAD_CRC = 0
    NOT_CONNECTED = 1
    """Packets for a VI that is not connected to their source."""
    NO_DESCRIPTOR = 2
    """Messages of unreliable connections without a receive descriptor."""
    LOST = 3
    """Gaps in sequence numbers."""
    STALLED = 4
    """A packet waited for the refill of a receive queue cache."""


class Vi(IntEnum):
    """The words of a VI [who writes], byte offsets."""

    STATE = 0
    """Generation (24) | `State` (8): a new generation starts with empty queues [kernel, NIC: ERROR]."""
    PEER = 4
    """Node (8) | VI (8) [kernel]."""
    MODE = 8
    """`Reliability` [kernel]."""
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
    BYTES = 64


class State(IntEnum):
    """Of a VI."""

    CLOSED = 0
    """Receive descriptors may be posted, nothing arrives."""
    CONNECTED = 1
    ERROR = 2
    """The connection is broken: whatever is posted is flushed."""


class Queue(IntEnum):
    """The words of a completion queue [kernel], byte offsets."""

    ADDRESS = 0
    """Physical, of its ring of words in host memory."""
    ENTRIES = 4
    BYTES = 8


class Event(IntEnum):
    """What the NIC tells the kernel: a word of the event ring, 1 (1) | event (7) | VI (8) | detail (16)."""

    BROKEN = 1
    """A connection; detail: the kind of packet that told, or why."""


EVENTS = 256
"""Words of the event ring."""
VALID = 1 << 31
"""An entry of the event ring or of a completion queue is there."""


class Command(IntEnum):
    """What the kernel tells the NIC: a word of the command ring, command (16) | VI (16)."""

    FLUSH = 1
    """Complete all that is posted as flushed."""
    BREAK = 2
    """The same, but the oldest message without an answer has failed."""


class Kind(IntEnum):
    """Of a physical descriptor."""

    RECEIVE = 0
    SEND = 1
    WRITE = 2


class Control(NamedTuple):
    """The first word of a physical descriptor."""

    kind: int
    immediate: bool
    inline: bool
    vi: int
    entries: int

    def word(self) -> int:
        """As it stands in the queue."""
        return self.kind << 30 | self.immediate << 29 | self.inline << 28 | self.vi << 21 | self.entries

    @classmethod
    def of(cls, word: int) -> Control:
        """The fields of a control word."""
        return cls(word >> 30, bool(word >> 29 & 1), bool(word >> 28 & 1), word >> 21 & 0x7F, word & 0xFFFF)


CONTROL_WORDS, PAGE_WORDS = 3, 2
"""Words of a physical descriptor, and of each entry of its list."""


class Layout:
    """Addresses in the NIC's memory, from the options."""

    def __init__(self, options: Options, sram_bytes: int) -> None:
        """Raises OptionError when the NIC's memory cannot hold what is asked."""
        self.options = options
        self.vis = int(Word.END)
        self.completion = self.vis + Vi.BYTES * options.vis
        self.send = self.completion + Queue.BYTES * options.queues
        self.receive = self.send + 4 * options.send_words
        self.port = self.receive + 4 * options.receive_words * options.vis + 7 & -8
        """From here on the packet port's."""
        need = self.port + 16 * (options.packet + 64)
        if need > sram_bytes:
            what = f"{options.vis} VIs with receive queue caches of {options.receive_words} words"
            remedy = "lower via.vis, via.receive_words or via.send_words"
            raise OptionError(what, f"need {need} bytes of a NIC with {sram_bytes}", remedy)

    def vi(self, number: int, word: Vi) -> int:
        """Address of a word of a VI."""
        return self.vis + Vi.BYTES * number + word

    def ring(self, vi: int) -> int:
        """Address of a VI's receive queue cache."""
        return self.receive + 4 * self.options.receive_words * vi

    def queue(self, number: int) -> int:
        """Address of the words of a completion queue."""
        return self.completion + Queue.BYTES * number
