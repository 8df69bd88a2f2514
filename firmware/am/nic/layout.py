"""Where things stand in the NIC's memory and in the host's, and what their words mean. Both sides read this file.

    host memory, pinned    for each node and kind, 4 send buffers | the same, 4 receive buffers | the receive queue
    descriptor (in NIC)    physical address of the payload, then the 8 words of the message
    message                destination (8) | check of the code image (24)
                           handler | up to 5 arguments
                           there (1) | kind (1) | slot (2) | arguments (3) | 0 | bytes of payload (13)
    packet                 source (8) | number (24)
                           bytes modulo 8 (3) | payload (1) | kind (1) | slot (2) | 0 | bytes (13)
                           then the message, or its payload
    entry of the receive queue   the message, then source (8) | number (24), there (1)

Payload travels in front of its message, as a packet of its own, and stands in the receive buffer of (source, kind,
slot) when the message is told. A pair of nodes has four requests under way, and as many replies, so nothing overflows.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from pymodels.codes import quick

SLOTS, KINDS = 4, 2
"""Requests to a node that are not answered; requests and replies."""
MOST = 4096
"""Bytes of payload in a message."""
ARGUMENTS = 5
NODES = 64
WORDS, STRIDE = 8, 64
"""Words of a message; bytes of a descriptor in the NIC."""
ENTRY = 64
"""Bytes of an entry of the receive queue; the word that tells of it stands behind the message and its key."""
THERE_AT = 4 * WORDS + 4
NUMBER = 0xFFFFFF
THERE = 1 << 31


@quick
class Word(IntEnum):
    """Words of the NIC's memory [who writes], byte addresses."""

    MEMORY = 0x00
    """Physical address of the host's part; not 0 = the driver is ready [host]."""
    BAD = 0x04
    """Packets that came damaged [NIC]."""
    INTERRUPT = 0x08
    """1: the next message interrupts the host [host]; 0: it has done so [NIC]."""
    DESCRIPTORS = 0x100
    """The ring of descriptors [host]; last word 0: taken [NIC]."""


PORT = Word.DESCRIPTORS + STRIDE * SLOTS * KINDS * NODES
"""From here on the NIC's memory is the packet port's."""


class Place:
    """Offsets in the host's part, for a number of nodes."""

    def __init__(self, nodes: int) -> None:
        self.entries = SLOTS * KINDS * nodes
        """Of the ring of descriptors, and of the receive queue."""
        self.receive = MOST * self.entries
        self.queue = 2 * self.receive
        self.bytes = self.queue + ENTRY * self.entries

    @staticmethod
    def buffer(node: int, kind: int, slot: int) -> int:
        """Of send buffers, or of receive buffers."""
        return MOST * ((node * KINDS + kind) * SLOTS + slot)


class Control(NamedTuple):
    """The last word of a message."""

    kind: int
    """0: request, 1: reply."""
    slot: int
    arguments: int
    size: int

    @property
    def word(self) -> int:
        """As it stands there."""
        return THERE | self.kind << 30 | self.slot << 28 | self.arguments << 25 | self.size

    @classmethod
    def of(cls, word: int) -> Control:
        """Taken apart."""
        return cls(word >> 30 & 1, word >> 28 & 3, word >> 25 & 7, word & 0x1FFF)


def key(source: int, before: int, payload: bool = False) -> int:
    """First word of the packets of a message, before which the node sent so many."""
    return source << 24 | (2 * before + 2 - payload) & NUMBER


def second(control: Control, payload: bool) -> int:
    """Second word of a packet."""
    size = control.size if payload else 4 * WORDS
    return (size & 7) << 29 | payload << 28 | control.kind << 27 | control.slot << 25 | size
