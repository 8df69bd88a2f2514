"""Formats of descriptors and packets, for NIC and host.

AM-II's formats are not published; this file alone defines them.

descriptor   w0        owned (1) | kind (3) | returned (1) | null (1) | code (6) | arguments (4) | transfer (8) |
                       handler (8)
             w1        node (16) | endpoint (16): the destination; in a received message: its name; in one
                       returned by the own NIC: the destination, in the form of a name
             w2 w3     tag of the destination
             w4        bytes of payload (16) | staging block (16)
             w5        offset in the segment (bulk)
             w6-w13    arguments
             w14 w15   in a received message: tag of its source, for the reply
packet       source node (8) | endpoint (7) | queue (1) | number (16): the message's name, also in the trace
             bytes modulo 8 (3) | control (1) | queue (1) | 0 | channel (8) | sequence (8)
             message: w0-w5, the source's tag (2 words), arguments; with payload all 8 arguments, then the payload
             control: 6 words, the first of which is a code: 0 acknowledges, others return the message
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from pymodels.codes import quick

OWNED = 1 << 31
"""Flag of a descriptor. Send queue: the NIC has not taken the message. Receive queue: the descriptor holds a message.
"""
SHORT_WORDS = 8
"""Maximum number of arguments (paper 002: short messages have up to 8 words)."""
HEAD, TAG = 6, 2
"""Words of a descriptor before the arguments, and words of a tag."""
LEAD = 4 * (HEAD + TAG + SHORT_WORDS)
"""Bytes before a packet's payload."""
CONTROL_WORDS = 6
"""Words of a control packet after the header: 8 in all (readings AM-C22)."""
CONTROLS = 127
"""Endpoint number in the name of a control packet."""
NEVER, ALWAYS = 0, (1 << 64) - 1
"""Tags that match no message, and all messages (readings AM-C14)."""


@quick
class Kind(IntEnum):
    """Payload of a message."""

    SHORT = 0
    MEDIUM = 1
    BULK = 2
    """Data for the segment of the destination."""
    GET = 3
    """Request for data of the segment. Arguments: offset in the requester's segment, number of bytes."""
    PIECE = 4
    """Bulk data, except the last piece of a transfer. The handler field is 1 for the first piece, 0 for others."""


@quick
class Queue(IntEnum):
    """Queues of an endpoint, in the order of its frame."""

    REQUEST_SEND = 0
    REPLY_SEND = 1
    REQUEST_RECEIVE = 2
    REPLY_RECEIVE = 3


@quick
class Code(IntEnum):
    """Reason of a returned message (names of the AM 2.0 specification; for the detecting side see readings AM-C13)."""

    OK = 0
    BAD_ENDPOINT = 1
    BAD_TAG = 2
    CONGESTION = 3
    UNREACHABLE = 4
    BAD_ENTRY = 5
    BAD_ARGUMENTS = 6
    BAD_HANDLER = 7
    BAD_SEGMENT_OFFSET = 8
    BAD_LENGTH = 9
    REPLY_REJECTED = 10
    ABSENT = 11
    """The endpoint is not in the NIC's memory, and the message is to be sent later. Used between NICs only."""


class Head(NamedTuple):
    """First word of a descriptor, without the owner flag."""

    kind: int
    arguments: int
    handler: int
    returned: bool = False
    null: bool = False
    """True for a reply that only acknowledges a request, or a message returned by the receiving library."""
    code: int = 0
    transfer: int = 0
    """Sender's transfer number of a piece of bulk data and of its answer; 0 if there is a single piece."""

    @property
    def word(self) -> int:
        """Encoded word, with the owner flag."""
        flags = self.returned << 27 | self.null << 26 | self.code << 20
        return OWNED | self.kind << 28 | flags | self.arguments << 16 | self.transfer << 8 | self.handler

    @classmethod
    def decode(cls, word: int) -> Head:
        """Return the decoded word."""
        flags = bool(word >> 27 & 1), bool(word >> 26 & 1)
        return cls(word >> 28 & 7, word >> 16 & 15, word & 0xFF, *flags, word >> 20 & 63, word >> 8 & 0xFF)


def halves(word: int) -> tuple[int, int]:
    """Return the upper and lower 16 bits of a word."""
    return word >> 16, word & 0xFFFF


def tag_words(tag: int) -> tuple[int, int]:
    """Return the two words of a tag."""
    return tag >> 32, tag & 0xFFFFFFFF


def name(node: int, endpoint: int, queue: int, number: int) -> int:
    """Return the first word of a message's packet; `number` counts the messages of the endpoint's queue from 0."""
    return node << 24 | endpoint << 17 | queue << 16 | number & 0xFFFF


class Name(NamedTuple):
    """Fields of a message's name."""

    node: int
    endpoint: int
    queue: int
    number: int

    @classmethod
    def decode(cls, word: int) -> Name:
        """Return the decoded name."""
        return cls(word >> 24, word >> 17 & 127, word >> 16 & 1, word & 0xFFFF)


def control_name(node: int, number: int) -> int:
    """Return the first word of a control packet."""
    return node << 24 | CONTROLS << 17 | number & 0x1FFFF


class Second(NamedTuple):
    """Second word of a packet."""

    queue: int
    """0 for requests, 1 for replies."""
    channel: int
    sequence: int
    control: bool = False

    def word(self, size: int) -> int:
        """Return the encoded word; `size` is the number of bytes after the header."""
        return (size & 7) << 29 | self.control << 28 | self.queue << 27 | self.channel << 8 | self.sequence

    @classmethod
    def decode(cls, word: int) -> Second:
        """Return the decoded word."""
        return cls(word >> 27 & 1, word >> 8 & 0xFF, word & 0xFF, bool(word >> 28 & 1))
