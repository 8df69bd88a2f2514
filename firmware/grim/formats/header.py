"""GRIM's message format: the 32-byte header, 8-byte control messages, counters that wrap, endpoint references.

Paper 000, section 4.1.1 and Figure 4.2; the places within the words are in readings B1. All words are big-endian.

    w0  GRIM id 0x0636 (16) | NI token (8) | NI sequence (8)        = the 4-byte Myrinet type
    w1  message type (6) | payload correction (2) | multicast tree, or place in a transfer (8) | source endpoint (16)
    w2  payload words (16) | destination endpoint (16)
    w3  logical channel (16) | handler (16)
    w4..w7  four user arguments

A control message is w0 and w1: token and sequence of the message meant, the answering NI as source. Ours: the 8/8
split of token and sequence; endpoint = {VNN 8, device 8} (see `endpoints`); logical channel = {source channel 8,
destination channel 8}, so that a receiver finds the sequence of (source channel, NI, destination channel) in the
header; in a control message payload correction and multicast tree carry the cause of an ERROR, or what a NACK lacks
(5), and the destination channel of the message meant (5), so that an answer names its stream.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from firmware.grim.formats.endpoints import Device, endpoint, vnn_of

GRIM_ID = 0x0636
"""First 16 bits of every GRIM packet (registered with Myricom)."""
HEADER_WORDS = 8
HEADER_BYTES = 32
CONTROL_BYTES = 8
MAX_PAYLOAD = 64_572
"""Bytes that one message can carry (Figure 4.2)."""
MAX_SEND = 16 * 1024 * 1024
"""Bytes that one `send` can carry, in segments under one handler call (readings B4)."""
TAG_SHIFT = 4
TAG = 0xF << TAG_SHIFT
"""In word 1, above the device of the source endpoint: with the time-out extension, the connection of two NIs (ours)."""
COUNTER_BITS = 8
COUNTER_MASK = (1 << COUNTER_BITS) - 1
"""Tokens and sequence numbers wrap here."""
TOKENS = 1 << COUNTER_BITS
"""Most messages that a NI has in flight: a token is unique per sending NI."""
NI_TOKENS = 12
"""Of them, those of a NI's replies to remote reads (ours)."""
REPORT_TOKENS = 4
"""And those of its reports to other hosts (ours)."""
TREE_TOKENS = 8
"""And those of the copies that it makes for one multicast tree (ours)."""
MAX_WINDOW = (1 << (COUNTER_BITS - 1)) - 1
"""Most messages in flight of one stream: beyond it, a modular comparison is ambiguous."""
MAX_CHANNELS = 32
CONTINUES = 1 << 16
"""In w1 of a remote memory message: it is not the first of its transfer."""
MORE = 2 << 16
"""In w1 of a remote memory message: it is not the last of its transfer."""

HEADER = struct.Struct(">8I")
CONTROL = struct.Struct(">2I")


class Header(NamedTuple):
    """The fields of a data message's header, unsigned, in the order of the words."""

    token: int
    sequence: int
    type: int
    correction: int
    tree: int
    source: int
    words: int
    destination: int
    channel: int
    handler: int
    arguments: tuple[int, int, int, int]

    def pack(self) -> bytes:
        """The 32 bytes. Raises ValueError naming the field that does not fit."""
        for name, bits in _BITS:
            if not 0 <= getattr(self, name) < 1 << bits:
                raise ValueError(f"{name} {getattr(self, name)} does not fit into {bits} bits")
        ends = self.source, self.destination, self.channel, self.handler, self.tree
        words = message_words(self.type, self.bytes, *ends)
        return HEADER.pack(key(self.token, self.sequence), *words, *(one & 0xFFFFFFFF for one in self.arguments))

    @property
    def bytes(self) -> int:
        """Payload bytes as the sender gave them."""
        return 4 * self.words - self.correction


ARRIVED = struct.Struct(">I4B2H2BH4i")
"""A data message's header as a host reads it, in one call, arguments with their signs: word 0; type and correction
(`KIND_SHIFT`), tree, VNN and device of the source; words of payload, destination; source and destination channel,
handler; arguments.
"""
KIND_SHIFT = 2
"""In the byte with type and correction, how far up the type stands."""
WORDS_AT = 8
"""Where in a header the number of words of payload stands, in 16 bits."""


class Words(NamedTuple):
    """The first words of a header as they travel, with their fields by name: the only definition of their positions. In
    a control message the last two words have no meaning.
    """

    w0: int
    """The packet's key."""
    w1: int
    w2: int = 0
    w3: int = 0

    @property
    def is_grim(self) -> bool:
        """Whether the packet has GRIM's type."""
        return self.w0 >> 16 == GRIM_ID

    @property
    def token(self) -> int:
        """The NI token; of a control message that of the message meant."""
        return self.w0 >> 8 & COUNTER_MASK

    @property
    def sequence(self) -> int:
        """The NI sequence; of a control message that of the message meant."""
        return self.w0 & COUNTER_MASK

    @property
    def type(self) -> int:
        """A MessageType, if it is one."""
        return self.w1 >> 26

    @property
    def tree(self) -> int:
        """The multicast tree, or the place in a transfer."""
        return self.w1 >> 16 & 0xFF

    @property
    def source(self) -> int:
        """VNN of the source endpoint."""
        return self.w1 >> 8 & 0xFF | (self.w1 & 0xC) << 6

    @property
    def cause(self) -> int:
        """Of a control message: the Cause of an ERROR, what a NACK lacks."""
        return self.w1 >> 21 & 0x1F

    @property
    def channel_meant(self) -> int:
        """Of a control message: the destination channel of the message meant."""
        return self.w1 >> 16 & 0x1F

    @property
    def words(self) -> int:
        """Words of payload."""
        return self.w2 >> 16

    @property
    def bytes(self) -> int:
        """Payload bytes as the sender gave them."""
        return 4 * (self.w2 >> 16) - (self.w1 >> 24 & 3)

    @property
    def destination(self) -> int:
        """The destination endpoint."""
        return self.w2 & 0xFFFF

    @property
    def target(self) -> int:
        """VNN of the destination endpoint."""
        return vnn_of(self.w2)

    @property
    def first_sender(self) -> int:
        """Of a copy of a multicast: the VNN of its first sender."""
        return self.w2 >> 8 & 0xFF

    @property
    def first_channel(self) -> int:
        """Of a copy of a multicast: the channel of its first sender."""
        return self.w2 & 0xFF

    @property
    def channels(self) -> int:
        """The logical channel: source and destination."""
        return self.w3 >> 16

    @property
    def source_channel(self) -> int:
        """Of the logical channel."""
        return self.w3 >> 24

    @property
    def channel(self) -> int:
        """The destination channel of the logical channel."""
        return self.w3 >> 16 & 0xFF

    @property
    def handler(self) -> int:
        """The handler, or what stands in its place."""
        return self.w3 & 0xFFFF


_BITS = (("token", 8), ("sequence", 8), ("type", 6), ("correction", 2), ("tree", 8), ("source", 16), ("words", 16),
         ("destination", 16), ("channel", 16), ("handler", 16))  # fmt: skip


def unpack(data: bytes | memoryview) -> Header:
    """The header at the start of `data`. Raises ValueError when it is short or not GRIM's."""
    if len(data) < HEADER_BYTES:
        raise ValueError(f"a GRIM header has {HEADER_BYTES} bytes, not {len(data)}")
    w0, w1, w2, w3, *arguments = HEADER.unpack_from(data)
    words = Words(w0, w1, w2, w3)
    if not words.is_grim:
        raise ValueError(f"GRIM id is {w0 >> 16:#06x}, not {GRIM_ID:#06x}")
    a0, a1, a2, a3 = arguments
    first = (words.token, words.sequence, words.type, w1 >> 24 & 3, words.tree, w1 & 0xFFFF)
    return Header(*first, words.words, words.destination, words.channels, words.handler, (a0, a1, a2, a3))


def key(token: int, sequence: int) -> int:
    """Word 0: the packet's key in the trace."""
    return GRIM_ID << 16 | token << 8 | sequence


def message_words(
    kind: int, size: int, source: int, destination: int, channels: int, handler: int, tree: int = 0
) -> tuple[int, int, int]:
    """Words 1 to 3 of a message with `size` bytes of payload; `source`, `destination`: endpoints; `channels`: both."""
    w1 = kind << 26 | (-size & 3) << 24 | tree << 16 | source
    return w1, size + 3 >> 2 << 16 | destination, channels << 16 | handler


def logical_channel(source: int, destination: int) -> int:
    """The channels of both endpoints, as word 3 has them."""
    return source << 8 | destination


def control(type_: int, token: int, sequence: int, source: int, cause: int = 0, channel: int = 0) -> tuple[int, int]:
    """The two words of a control message. `source`: the answering NI's VNN; `channel`: where the message meant goes."""
    return key(token, sequence), type_ << 26 | cause << 21 | channel << 16 | endpoint(source, Device.NI)


def padded(words: int) -> int:
    """Bytes that a payload of so many words takes in queues and on the wire: the send engine moves 8 bytes (readings
    B1).
    """
    return words + (words & 1) << 2


def distance(sequence: int, expected: int) -> int:
    """How far `sequence` is ahead of `expected`, -128..127, both wrapping at 8 bits."""
    ahead = sequence - expected & COUNTER_MASK
    return ahead - (COUNTER_MASK + 1) if ahead > MAX_WINDOW else ahead
