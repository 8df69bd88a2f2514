"""GRIM's message format: the 32-byte header, 8-byte control messages, counters that wrap, endpoint references.

Paper 000, section 4.1.1 and Figure 4.2; the positions within the words are in readings B1. All words are big-endian.

    w0  GRIM id 0x0636 (16) | NI token (8) | NI sequence (8)        = the 4-byte Myrinet type
    w1  message type (6) | payload correction (2) | multicast tree, or place in a transfer (8) | source endpoint (16)
    w2  payload words (16) | destination endpoint (16)
    w3  logical channel (16) | handler (16)
    w4..w7  four user arguments

A control message consists of w0 and w1: token and sequence of the answered message, the answering NI as source.

Three choices are ours: the 8/8 split of token and sequence, endpoint = {VNN 8, device 8} (see `endpoints`), and logical
channel = {source channel 8, destination channel 8}. So the header identifies the any-to-any stream of a message. In a
control message, the fields of payload correction and multicast tree have another use. They carry the cause of an ERROR
or the lack of a NACK (5), and the destination channel of the answered message (5). So an answer identifies its stream.
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
"""Maximum payload of one message in bytes (Figure 4.2)."""
MAX_SEND = 16 * 1024 * 1024
"""Maximum bytes of one `send`, in segments with a single handler call (readings B4)."""
TAG_SHIFT = 4
TAG = 0xF << TAG_SHIFT
"""Connection tag of two NIs in word 1, above the device of the source endpoint (time-out extension, ours)."""
COUNTER_BITS = 8
COUNTER_MASK = (1 << COUNTER_BITS) - 1
"""Mask of tokens and sequence numbers, which wrap."""
TOKENS = 1 << COUNTER_BITS
"""Maximum number of messages in flight of one NI: a token is unique for a sending NI."""
NI_TOKENS = 12
"""Tokens reserved for a NI's replies to remote reads (ours)."""
REPORT_TOKENS = 4
"""Tokens reserved for a NI's reports to other hosts (ours)."""
TREE_TOKENS = 8
"""Tokens reserved for a NI's copies for one multicast tree (ours)."""
MAX_WINDOW = (1 << (COUNTER_BITS - 1)) - 1
"""Maximum number of messages in flight of one stream; beyond it, modular comparison is ambiguous."""
MAX_CHANNELS = 32
CONTINUES = 1 << 16
"""Flag in w1 of a remote memory message that is not the first of its transfer."""
MORE = 2 << 16
"""Flag in w1 of a remote memory message that is not the last of its transfer."""

HEADER = struct.Struct(">8I")
CONTROL = struct.Struct(">2I")


class Header(NamedTuple):
    """Fields of a data message's header, unsigned, in the order of the words."""

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
        """Return the 32 bytes of the header. Raises ValueError naming a field that is out of range."""
        for name, bits in _BITS:
            if not 0 <= getattr(self, name) < 1 << bits:
                raise ValueError(f"{name} {getattr(self, name)} does not fit into {bits} bits")
        ends = self.source, self.destination, self.channel, self.handler, self.tree
        words = message_words(self.type, self.bytes, *ends)
        return HEADER.pack(key(self.token, self.sequence), *words, *(one & 0xFFFFFFFF for one in self.arguments))

    @property
    def bytes(self) -> int:
        """Payload bytes before padding."""
        return 4 * self.words - self.correction


ARRIVED = struct.Struct(">I4B2H2BH4i")
"""Header of a data message as a host unpacks it in one call, with signed arguments: word 0; type and correction
(`KIND_SHIFT`), tree, VNN and device of the source; payload words, destination; source and destination channel, handler;
arguments.
"""
KIND_SHIFT = 2
"""Bit position of the type in the byte with type and correction."""
WORDS_AT = 8
"""Byte offset in a header of the number of payload words (16 bits)."""


class Words(NamedTuple):
    """First four words of a header, with their fields as properties: the single definition of the field positions.

    In a control message the last two words have no meaning.
    """

    w0: int
    """Key of the packet."""
    w1: int
    w2: int = 0
    w3: int = 0

    @property
    def is_grim(self) -> bool:
        """True if the packet has GRIM's identifier."""
        return self.w0 >> 16 == GRIM_ID

    @property
    def token(self) -> int:
        """NI token; in a control message that of the answered message."""
        return self.w0 >> 8 & COUNTER_MASK

    @property
    def sequence(self) -> int:
        """NI sequence number; in a control message that of the answered message."""
        return self.w0 & COUNTER_MASK

    @property
    def type(self) -> int:
        """Message type: a MessageType, or an unknown number."""
        return self.w1 >> 26

    @property
    def tree(self) -> int:
        """Multicast tree, or position in a transfer."""
        return self.w1 >> 16 & 0xFF

    @property
    def source(self) -> int:
        """VNN of the source endpoint."""
        return self.w1 >> 8 & 0xFF | (self.w1 & 0xC) << 6

    @property
    def cause(self) -> int:
        """Cause of an ERROR, or Lack of a NACK; control messages only."""
        return self.w1 >> 21 & 0x1F

    @property
    def channel_meant(self) -> int:
        """Destination channel of the answered message; control messages only."""
        return self.w1 >> 16 & 0x1F

    @property
    def words(self) -> int:
        """Payload words."""
        return self.w2 >> 16

    @property
    def bytes(self) -> int:
        """Payload bytes before padding."""
        return 4 * (self.w2 >> 16) - (self.w1 >> 24 & 3)

    @property
    def destination(self) -> int:
        """Destination endpoint."""
        return self.w2 & 0xFFFF

    @property
    def target(self) -> int:
        """VNN of the destination endpoint."""
        return vnn_of(self.w2)

    @property
    def first_sender(self) -> int:
        """VNN of the original sender; copies of a multicast only."""
        return self.w2 >> 8 & 0xFF

    @property
    def first_channel(self) -> int:
        """Channel of the original sender; copies of a multicast only."""
        return self.w2 & 0xFF

    @property
    def channels(self) -> int:
        """Logical channel: source channel (8 bits) and destination channel (8 bits)."""
        return self.w3 >> 16

    @property
    def source_channel(self) -> int:
        """Source channel."""
        return self.w3 >> 24

    @property
    def channel(self) -> int:
        """Destination channel."""
        return self.w3 >> 16 & 0xFF

    @property
    def handler(self) -> int:
        """Handler number, or the value that replaces it in remote memory messages."""
        return self.w3 & 0xFFFF


_BITS = (("token", 8), ("sequence", 8), ("type", 6), ("correction", 2), ("tree", 8), ("source", 16), ("words", 16),
         ("destination", 16), ("channel", 16), ("handler", 16))  # fmt: skip


def unpack(data: bytes | memoryview) -> Header:
    """Return the header at the start of `data`. Raises ValueError if it is too short or not GRIM's."""
    if len(data) < HEADER_BYTES:
        raise ValueError(f"GRIM header: {len(data)} bytes, but a header has {HEADER_BYTES}")
    w0, w1, w2, w3, *arguments = HEADER.unpack_from(data)
    words = Words(w0, w1, w2, w3)
    if not words.is_grim:
        raise ValueError(f"GRIM id is {w0 >> 16:#06x}, not {GRIM_ID:#06x}")
    a0, a1, a2, a3 = arguments
    first = (words.token, words.sequence, words.type, w1 >> 24 & 3, words.tree, w1 & 0xFFFF)
    return Header(*first, words.words, words.destination, words.channels, words.handler, (a0, a1, a2, a3))


def key(token: int, sequence: int) -> int:
    """Return word 0 of a message, which is the packet's key in the trace."""
    return GRIM_ID << 16 | token << 8 | sequence


def message_words(
    kind: int, size: int, source: int, destination: int, channels: int, handler: int, tree: int = 0
) -> tuple[int, int, int]:
    """Return words 1 to 3 of a message.

    Args:
        kind: Message type.
        size: Bytes of payload.
        source: Source endpoint.
        destination: Destination endpoint.
        channels: Logical channel (`logical_channel`).
        handler: Handler number.
        tree: Multicast tree, or position in a transfer.
    """
    w1 = kind << 26 | (-size & 3) << 24 | tree << 16 | source
    return w1, size + 3 >> 2 << 16 | destination, channels << 16 | handler


def logical_channel(source: int, destination: int) -> int:
    """Return source and destination channel as in word 3."""
    return source << 8 | destination


def control(type_: int, token: int, sequence: int, source: int, cause: int = 0, channel: int = 0) -> tuple[int, int]:
    """Return the two words of a control message.

    Args:
        type_: Message type.
        token: Token of the answered message.
        sequence: Sequence number of the answered message.
        source: VNN of the answering NI.
        cause: Cause of an ERROR, or Lack of a NACK.
        channel: Destination channel of the answered message.
    """
    return key(token, sequence), type_ << 26 | cause << 21 | channel << 16 | endpoint(source, Device.NI)


def padded(words: int) -> int:
    """Return the bytes of a payload of `words` words in queues and on the wire, where the send engine moves 8 bytes
    (readings B1).
    """
    return words + (words & 1) << 2


def distance(sequence: int, expected: int) -> int:
    """Return how far `sequence` is ahead of `expected`, in -128..127, both wrapping at 8 bits."""
    ahead = sequence - expected & COUNTER_MASK
    return ahead - (COUNTER_MASK + 1) if ahead > MAX_WINDOW else ahead
