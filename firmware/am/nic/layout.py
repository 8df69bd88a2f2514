"""Memory layouts and word formats shared by firmware and host library.

    host memory, pinned    for each node and kind, 4 send buffers | the same, 4 receive buffers | the receive queue
    descriptor (in NIC)    physical address of the payload, then the 8 words of the message
    message                destination (8) | check of the code image (24)
                           handler | up to 5 arguments
                           valid (1) | kind (1) | slot (2) | arguments (3) | 0 | bytes of payload (13)
    packet                 source (8) | number (24)
                           bytes modulo 8 (3) | payload (1) | kind (1) | slot (2) | 0 | bytes (13)
                           then the message, or its payload
    receive-queue entry    the message, then source (8) | number (24), valid (1)

The payload travels in a packet of its own, in front of its message. It is in the receive buffer of (source, kind, slot)
when the message is announced. Four requests and four replies may be outstanding between two nodes, so no ring
overflows.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from pymodels.codes import quick

SLOTS, KINDS = 4, 2
"""Outstanding requests to a node; message kinds (request and reply)."""
MOST = 4096
"""Payload of a message at most, bytes."""
ARGUMENTS = 5
NODES = 64
WORDS, STRIDE = 8, 64
"""Words of a message; bytes of a descriptor in the NIC."""
ENTRY = 64
"""Bytes of a receive-queue entry. Its valid word follows the message and the packet key."""
VALID_AT = 4 * WORDS + 4
NUMBER = 0xFFFFFF
VALID = 1 << 31


@quick
class Word(IntEnum):
    """Byte addresses of shared words in the NIC's memory [writer]."""

    MEMORY = 0x00
    """Physical address of the host buffers; nonzero when the driver is ready [host]."""
    BAD = 0x04
    """Number of damaged packets received [NIC]."""
    INTERRUPT = 0x08
    """1: the next message interrupts the host [host]; 0: the interrupt has been raised [NIC]."""
    DESCRIPTORS = 0x100
    """Ring of descriptors [host]; the last word of a descriptor is 0 when it has been taken [NIC]."""


PORT = Word.DESCRIPTORS + STRIDE * SLOTS * KINDS * NODES
"""Start of the packet port's area in the NIC's memory."""


class Place:
    """Offsets in the host buffers for a number of nodes."""

    def __init__(self, nodes: int) -> None:
        self.entries = SLOTS * KINDS * nodes
        """Number of entries of the descriptor ring and of the receive queue."""
        self.receive = MOST * self.entries
        self.queue = 2 * self.receive
        self.bytes = self.queue + ENTRY * self.entries

    @staticmethod
    def buffer(node: int, kind: int, slot: int) -> int:
        """Return the offset of a buffer in the send or receive buffers."""
        return MOST * ((node * KINDS + kind) * SLOTS + slot)


class Control(NamedTuple):
    """Fields of the last word of a message."""

    kind: int
    """0: request, 1: reply."""
    slot: int
    arguments: int
    size: int

    @property
    def word(self) -> int:
        """Encoded word."""
        return VALID | self.kind << 30 | self.slot << 28 | self.arguments << 25 | self.size

    @classmethod
    def decode(cls, word: int) -> Control:
        """Decode a word."""
        return cls(word >> 30 & 1, word >> 28 & 3, word >> 25 & 7, word & 0x1FFF)


def key(source: int, before: int, payload: bool = False) -> int:
    """Return the first word of a packet: source node and packet number.

    Args:
        source: sending node.
        before: number of messages that the node sent before this message.
        payload: True for the payload packet of the message.
    """
    return source << 24 | (2 * before + 2 - payload) & NUMBER


def second(control: Control, payload: bool) -> int:
    """Return the second word of a packet."""
    size = control.size if payload else 4 * WORDS
    return (size & 7) << 29 | payload << 28 | control.kind << 27 | control.slot << 25 | size
