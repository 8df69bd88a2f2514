"""What the words of a descriptor and of a packet mean. Both sides read this file; every decision here is ours (AM-II's
formats are not published), and is in no other place.

    descriptor   w0        owned (1) | kind (3) | returned (1) | null (1) | code (6) | arguments (4) | transfer (8) |
                           handler (8)
                 w1        node (16) | endpoint (16): where it goes to; of a message that has come: its name; of one
                           that the own NIC has returned: where it went to, in the form of a name
                 w2 w3     tag: of the endpoint it goes to
                 w4        bytes of payload (16) | staging block (16)
                 w5        offset in the segment (bulk)
                 w6-w13    arguments
                 w14 w15   of a message that has come: tag of the endpoint it comes from, for the reply
    packet       source node (8) | endpoint (7) | queue (1) | number (16): the message's name, also in the trace
                 bytes modulo 8 (3) | control (1) | queue (1) | 0 | channel (8) | sequence (8)
                 message: w0-w5, the source's tag (2 words), arguments; with payload all 8 arguments, then the payload
                 control: 6 words, the first of which is a code: 0 acknowledges, another one returns the message
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from pymodels.codes import quick

OWNED = 1 << 31
"""A descriptor of a send queue holds a message that the NIC has not taken; one of a receive queue holds a message."""
SHORT_WORDS = 8
"""Arguments of a message at most (paper 002: short messages have up to 8 words)."""
HEAD, TAG = 6, 2
"""Words of a descriptor in front of the arguments; words of a tag."""
LEAD = 4 * (HEAD + TAG + SHORT_WORDS)
"""Bytes in front of a packet's payload."""
CONTROL_WORDS = 6
"""Words of a control packet behind the header: 8 in all (readings AM-C22)."""
CONTROLS = 127
"""In place of an endpoint in the name of a control packet."""
NEVER, ALWAYS = 0, (1 << 64) - 1
"""Tags that match no message, and every one (readings AM-C14)."""


@quick
class Kind(IntEnum):
    """How a message carries its payload."""

    SHORT = 0
    MEDIUM = 1
    BULK = 2
    """Into the segment of the endpoint that it goes to."""
    GET = 3
    """Asks for data of the segment: arguments are the place in the asker's, and how many bytes."""
    PIECE = 4
    """As bulk, but neither the last of its transfer nor for a handler: in place of that stands whether it is the first.
    """


@quick
class Queue(IntEnum):
    """The queues of an endpoint, in the order in which they stand in its frame."""

    REQUEST_SEND = 0
    REPLY_SEND = 1
    REQUEST_RECEIVE = 2
    REPLY_RECEIVE = 3


@quick
class Code(IntEnum):
    """Why a message was returned (names of the AM 2.0 specification; who judges: readings AM-C13)."""

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
    """Between NICs alone (ours): the endpoint is not in the NIC's memory; the message is to be sent again later."""


class Head(NamedTuple):
    """The first word of a descriptor, without the owner."""

    kind: int
    arguments: int
    handler: int
    returned: bool = False
    null: bool = False
    """A reply that only says that the request has been handled. Of a returned message: the receiving library did it."""
    code: int = 0
    transfer: int = 0
    """Of a piece of bulk data, and of its answer: the sender's number for all of it. 0: there is one piece."""

    @property
    def word(self) -> int:
        """As it stands there, owned."""
        flags = self.returned << 27 | self.null << 26 | self.code << 20
        return OWNED | self.kind << 28 | flags | self.arguments << 16 | self.transfer << 8 | self.handler

    @classmethod
    def of(cls, word: int) -> Head:
        """Taken apart."""
        flags = bool(word >> 27 & 1), bool(word >> 26 & 1)
        return cls(word >> 28 & 7, word >> 16 & 15, word & 0xFF, *flags, word >> 20 & 63, word >> 8 & 0xFF)


def halves(word: int) -> tuple[int, int]:
    """The two numbers of a word: w1, w4."""
    return word >> 16, word & 0xFFFF


def tag_words(tag: int) -> tuple[int, int]:
    """A tag as it stands in memory."""
    return tag >> 32, tag & 0xFFFFFFFF


def name(node: int, endpoint: int, queue: int, number: int) -> int:
    """First word of a message's packet: `number` counts the messages of the endpoint's queue from 0."""
    return node << 24 | endpoint << 17 | queue << 16 | number & 0xFFFF


class Name(NamedTuple):
    """The name of a message, taken apart."""

    node: int
    endpoint: int
    queue: int
    number: int

    @classmethod
    def of(cls, word: int) -> Name:
        """From the word."""
        return cls(word >> 24, word >> 17 & 127, word >> 16 & 1, word & 0xFFFF)


def control_name(node: int, number: int) -> int:
    """First word of a control packet."""
    return node << 24 | CONTROLS << 17 | number & 0x1FFFF


class Second(NamedTuple):
    """Second word of a packet."""

    queue: int
    """0: requests, 1: replies."""
    channel: int
    sequence: int
    control: bool = False

    def word(self, size: int) -> int:
        """As it stands there; `size`: bytes behind the header."""
        return (size & 7) << 29 | self.control << 28 | self.queue << 27 | self.channel << 8 | self.sequence

    @classmethod
    def of(cls, word: int) -> Second:
        """Taken apart."""
        return cls(word >> 27 & 1, word >> 8 & 0xFF, word & 0xFF, bool(word >> 28 & 1))
