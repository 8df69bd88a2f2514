"""Where things stand in the NIC's memory and in the host's, and what their words mean. Both sides read this file.

    frame        0x06 (8) | source (8) | number at its source (16)
                 composition (8) | number of the message (10) | number in it (14)
                 0 | last of it (1) | source (6) | communicator (8) | bytes of payload (16)
                 then the words of the selected protocols, in their order, and the payload
    control      0x07 (8) | source (8) | number at its source (16)
                 kind (8) | composition (8) | 0, then a word
    doorbell     node (8) | large (1) | slot of the Send Ring (7) | bytes of header and payload (16)
    Rx FIFO      lap (1), and what the third word of the header says; 0xFFFF bytes: the message stays incomplete

The lap of an entry changes each time round the queue, so nobody has to clear it.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import NamedTuple

from firmware.nic.epos.options import Options
from firmware.nic.epos.pointcuts import PROTOCOLS, identity
from pymodels.codes import quick
from pymodels.registers import Block, Size

DATA, CONTROL = 0x06, 0x07
"""First byte of a packet: a frame, or what NICs tell each other."""
NODES = 64
GROUP = 32
"""Nodes that the header of a multicast can name."""
ROUTE = 8
"""Bytes before a frame, for its route."""
BASE = 3
"""Words of the header that every frame has."""
SYNDROME = 8
RX_CHAIN, TX_CHAIN = 0, 2
"""Chains of the host DMA; the receive side goes first, and each has a bit of ISR of its own."""
LAP, LAST = 1 << 31, 1 << 30
INDEX = 0x3FFF
"""Of the second word of a frame: its number in the message."""
INCOMPLETE = 0xFFFF
"""Bytes of an entry of the Rx FIFO Queue where frames of a message are lost."""
BELLS = 64
"""Entries of the Tx FIFO Queue where it is words of the NIC's memory."""


class Kind(IntEnum):
    """What a control frame says."""

    ACK = 0
    """The frame with this number is in host memory."""
    CREDIT = 1
    """So many messages were copied out."""
    PROBE = 2
    """How many were? The sender of this has no credit, and has heard nothing for long."""
    ASK = 3
    """A buffer for the long message with this number?"""
    GRANT = 4
    """It is posted: the number, and how long it is."""
    MTU = 5
    """Frames of the sender are cut so from now on."""
    MTU_SEEN = 6
    """The NIC that says so knows it."""


@quick
class Word(IntEnum):
    """Words of the NIC's memory [who writes], byte addresses."""

    STAGING = 0x00
    """Physical address of the staging buffers; not 0 = the driver is ready [host]."""
    SENT = 0x04
    """How many doorbells are done with, counted from the start [NIC]."""
    EMPTY = 0x08
    """Doorbells with no frame behind [NIC]."""
    BAD = 0x0C
    """Packets that came damaged [NIC]."""
    FOREIGN = 0x10
    """Frames of another composition [NIC]; then the composition of the last one."""
    FOREIGN_IS = 0x14
    REFUSED = 0x18
    """What protection has refused [NIC]."""
    MIRROR = 0x1C
    """Physical address of the Rx FIFO Queue, where it is in host memory [host]."""
    HELD = 0x20
    """Frames that had to wait in the Receive Ring for a staging slot [NIC]."""
    STRAY = 0x24
    """Frames that were dropped, as they do not follow the one before: one between them is lost [NIC]."""
    FREED = 0x40
    """For each node: messages of it that the host has copied out [host]."""


class Told(NamedTuple):
    """The third word of a frame's header, and an entry of the Rx FIFO Queue."""

    last: bool
    source: int
    communicator: int
    size: int
    """Bytes of payload."""

    @property
    def word(self) -> int:
        """As it stands there."""
        return self.last << 30 | self.source << 24 | self.communicator << 16 | self.size

    @classmethod
    def of(cls, word: int) -> Told:
        """Taken apart."""
        return cls(bool(word & LAST), word >> 24 & 63, word >> 16 & 0xFF, word & 0xFFFF)


def number_of(composition: int, message: int, index: int) -> int:
    """Second word of a frame."""
    return composition << 24 | (message & 0x3FF) << 14 | index


def key_of(kind: int, source: int, number: int) -> int:
    """First word of a packet."""
    return kind << 24 | source << 16 | number & 0xFFFF


def bell(node: int, large: bool, slot: int, size: int) -> int:
    """A doorbell."""
    return node << 24 | large << 23 | slot << 16 | size


class Place:
    """What the composition and the sizes of the repository make of both memories."""

    def __init__(self, options: Options, nodes: int) -> None:
        self.options, self.nodes = options, nodes
        chosen = options.composition
        self.identity = identity(chosen)
        self.words: dict[str, int] = {}
        """Of a selected protocol: its word in the header."""
        self.header = BASE
        self.peer: dict[str, int] = {}
        """Of a selected protocol: its words for node 0 in the NIC's memory."""
        for one in PROTOCOLS:
            if one.name in chosen and one.header:
                self.words[one.name] = self.header
                self.header += one.header
        self.header_bytes = 4 * self.header
        self.frame_bytes = self.header_bytes + options.mtu
        least = options.least_mtu if "mtu" in chosen else options.mtu
        self.frames = options.slot_bytes // least
        """Frames of the longest message."""
        self.pages = options.slot_bytes // options.mtu
        """Of a posted buffer."""
        self.limit = options.slots if options.staging == "hold" else 8 * options.slots
        """Messages of a node that the host has not copied out, and for which the Rx FIFO Queue has room."""
        self.staging_bytes = options.slot_bytes * options.slots * nodes
        self.marks = self.staging_bytes
        """In host memory behind the staging buffers: which message stands in each slot."""
        self.host_bytes = self.staging_bytes + 4 * options.slots * nodes
        self._lay_out(options, nodes)

    def _lay_out(self, options: Options, nodes: int) -> None:
        """The NIC's memory."""
        chosen = options.composition
        self._parts: list[tuple[str, int, int]] = []
        self._end = int(Word.FREED)
        self._take("freed counts", 4 * nodes)
        for one in PROTOCOLS:
            if one.name in chosen and one.peer:
                words = one.peer + (self.pages if one.pages else 0)
                self.peer[one.name] = self._take(f"words of {one.name}", 4 * words * nodes)
        self.routes = self._take("routes", 16 * nodes)
        if options.notify == "doorbell":
            self.bells = self._take("Tx FIFO Queue", Size.DOORBELL_FIFO, Size.DOORBELL_FIFO)
        else:
            self.bells = self._take("Tx FIFO Queue", 4 * BELLS)
        self.entries = 1 << (nodes * self.limit * self.frames - 1).bit_length()
        self.fifo = self._take("Rx FIFO Queue", 4 * self.entries if options.rx_fifo == "nic" else 0)
        self.tx_blocks = self._take("Tx DMA Requests", Block.SIZE * options.send_frames)
        self.rx_count = 2 * options.receive_frames + 2
        self.rx_blocks = self._take("Rx DMA Requests", (Block.SIZE + 8) * self.rx_count)
        self.rx_words = self.rx_blocks + Block.SIZE * self.rx_count
        self.send_bytes = ROUTE + self.frame_bytes + 7 & -8
        self.send = self._take("Send Ring", self.send_bytes * options.send_frames)
        self.control = self._take("control frame", 32 if any(name in self.peer for name in chosen) else 0)
        self.receive_bytes = (self.frame_bytes + 7 & -8) + SYNDROME
        self.receive = self._take("Receive Ring", self.receive_bytes * options.receive_frames)
        self.end = self._end

    def _take(self, name: str, size: int, align: int = 8) -> int:
        """Room for something; what is not there takes none."""
        if not size:
            return 0
        at = self._end + align - 1 & -align
        self._parts.append((name, at, size))
        self._end = at + size
        return at

    @property
    def parts(self) -> Mapping[str, tuple[int, int]]:
        """The memory map: by name the address and the bytes."""
        return {name: (at, size) for name, at, size in self._parts}

    def slot(self, index: int) -> int:
        """Address of a frame of the Send Ring; its route stands before it."""
        return self.send + self.send_bytes * index + ROUTE

    def buffer(self, index: int) -> int:
        """Address of a frame of the Receive Ring."""
        return self.receive + self.receive_bytes * index

    def staging(self, source: int, message: int) -> int:
        """Offset of the staging slot of a node's message."""
        return self.options.slot_bytes * (source * self.options.slots + message % self.options.slots)

    def mark(self, source: int, message: int) -> int:
        """Offset of the word that says which message stands there."""
        return self.marks + 4 * (source * self.options.slots + message % self.options.slots)

    def of(self, protocol: str, node: int, words: int) -> int:
        """Address of a protocol's words for a node, of which it has so many."""
        return self.peer[protocol] + 4 * words * node
