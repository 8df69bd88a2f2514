"""GRIM's message format: the 32-byte header, 8-byte control messages, counters that wrap, endpoint references.

Paper 000, section 4.1.1 and Figure 4.2; the places within the words are in readings B1. All words are big-endian.

    w0  GRIM id 0x0636 (16) | NI token (8) | NI sequence (8)        = the 4-byte Myrinet type
    w1  message type (6) | payload correction (2) | multicast tree, or place in a transfer (8) | source endpoint (16)
    w2  payload words (16) | destination endpoint (16)
    w3  logical channel (16) | handler (16)
    w4..w7  four user arguments

A control message is w0 and w1: token and sequence of the message meant, the answering NI as source. Ours: the 8/8
split of token and sequence; endpoint = {VNN 8, device 8}; logical channel = {source channel 8, destination channel
8}, so that a receiver finds the sequence of (source channel, NI, destination channel) in the header; in a control
message payload correction and multicast tree carry the cause of an ERROR, or what a NACK lacks (5), and the destination
channel of the message meant (5), so that an answer names its stream.
"""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import NamedTuple

from pymodels.codes import quick

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
NI_TOKENS = 16
"""Of them, those of messages that a NI sends on its own account (replies to remote reads; ours)."""
TREE_TOKENS = 8
"""And those of the copies that it makes for one multicast tree (ours)."""
MAX_WINDOW = (1 << (COUNTER_BITS - 1)) - 1
"""Most messages in flight of one stream: beyond it, a modular comparison is ambiguous."""
MAX_VNN = 255
MAX_CHANNELS = 32
FIRST_CONTROL = 0x30
"""Control messages have types from here on; those of data messages are below 0x10, so that no single flipped bit
makes one the other."""

CONTINUES = 1 << 16
"""In w1 of a remote memory message: it is not the first of its transfer."""
MORE = 2 << 16
"""In w1 of a remote memory message: it is not the last of its transfer."""

HEADER = struct.Struct(">8I")
CONTROL = struct.Struct(">2I")


@quick
class MessageType(IntEnum):
    """The 6-bit message type; control messages stand at 0x30 and above."""

    ACTIVE = 0x01
    """An active message, or the last segment of a long one: the handler runs when it is complete."""
    SEGMENT = 0x02
    """A segment of a long active message before its last: arguments {total bytes, offset, -, -}."""
    ERROR_REPORT = 0x03
    """The sender's NI tells its host that a message, or the transfer that it ends, cannot succeed. Arguments:
    its type and place (16) | its destination (16), its channels (16) | cause (16), its arguments 0 and 3 (ours)."""
    RM_V = 0x04
    """Remote write to a virtual address: arguments {target, lock address, lock value, span}. The span says where a
    message stands in its transfer: the bytes of the whole in the first, of those before it in the others. The first has
    the lock to have it checked, the last to have it set (readings B7; the span is ours)."""
    RM_P = 0x05
    """Remote write to a physical address: the same arguments; the lock's address is virtual."""
    RM_RV = 0x06
    """Remote read: arguments {remote VA, local VA, lock VA, span}; the bytes stand where the handler of others does.
    Acknowledged by its reply."""
    RM_REPLY = 0x07
    """What was read, from the NI that read it: arguments {local VA, word 0 of the RM_RV, bytes, lock VA}; where the
    handler of others stands, the channel to which the RM_RV went."""
    MULTICAST = 0x08
    """An active message of one segment, on its way to the root of a multicast tree (readings B11)."""
    MULTICAST_SEGMENT = 0x09
    MULTICAST_LAST = 0x0A
    """The last of several segments: who has joined the tree behind the first one knows it by its type (ours)."""
    FORWARDED = 0x0C
    """The same, replicated by a NI of the tree: source endpoint = {forwarding NI 8, device NI}, in the place of the
    destination endpoint {original VNN 8, original channel 8} (ours; the paper: the source endpoint is not accurate)."""
    FORWARDED_SEGMENT = 0x0D
    FORWARDED_LAST = 0x0E
    ACK = 0x30
    NACK = 0x31
    ERROR = 0x32
    """The message can never succeed; it counts as delivered, and its sender is told (readings B5, ours)."""
    SYNC = 0x33
    """A NI is reset and waits to hear from the others (paper 003, C.2)."""
    SYNC_ANSWER = 0x34
    """Heard: the notice need not be repeated (readings B9)."""


SEGMENTS = (MessageType.SEGMENT, MessageType.MULTICAST_SEGMENT, MessageType.FORWARDED_SEGMENT)
"""Parts of a long message before its last."""
LASTS = (MessageType.MULTICAST_LAST, MessageType.FORWARDED_LAST)
"""Last parts of a tree's long message; that of others is an ACTIVE one."""
TREES = frozenset(kind for kind in MessageType if MessageType.MULTICAST <= kind <= MessageType.FORWARDED_LAST)
"""Messages of multicast trees."""


class Cause(IntEnum):
    """Why a message cannot succeed (5 bits of an ERROR; ours)."""

    UNKNOWN_ENDPOINT = 1
    UNKNOWN_TYPE = 2
    TOO_LONG = 3
    NOT_REGISTERED = 4
    """No pinned memory at the address, or it was freed."""
    BEYOND = 5
    """It begins in pinned memory and ends behind it."""
    LOCK_NOT_REGISTERED = 6
    FREED_HERE = 7
    """Reported by the reader's NI: the target of a remote read no longer exists."""
    HOST_DOWN = 8
    """Reported by the sender's NI: the other NI does not answer."""
    UNKNOWN_TREE = 9
    """No multicast tree of this number has its root here."""
    INTERRUPTED = 10
    """It continues a transfer of which what stands before it did not come."""
    RESTARTED = 11
    """Reported by a NI to its host: another NI is down, or has restarted, so messages of its host may be incomplete."""


class Lack(IntEnum):
    """What a NI has no room for when it refuses a message, in the place of the cause of a NACK (ours)."""

    ENDPOINT = 0
    """In the queue of the endpoint."""
    REPLIES = 1
    """In the queue of its own replies to remote reads."""
    TRANSLATION = 2
    """One message waits for a translation already."""
    COPIES = 3
    """In the queue of the copies of a multicast tree."""


@quick
class Device(IntEnum):
    """Kinds of endpoints (8 bits of a reference; ours)."""

    HOST = 0
    NI = 1
    CELOXICA = 2
    FRAME_BUFFER = 3


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
        return HEADER.pack(
            key(self.token, self.sequence),
            self.type << 26 | self.correction << 24 | self.tree << 16 | self.source,
            self.words << 16 | self.destination,
            self.channel << 16 | self.handler,
            *(argument & 0xFFFFFFFF for argument in self.arguments),
        )

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
        return self.w1 >> 8 & 0xFF

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
        """VNN of the destination endpoint; of a copy of a multicast that of its first sender."""
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


def control(type_: int, token: int, sequence: int, source: int, cause: int = 0, channel: int = 0) -> tuple[int, int]:
    """The two words of a control message. `source`: the answering NI's VNN; `channel`: where the message meant goes."""
    return key(token, sequence), type_ << 26 | cause << 21 | channel << 16 | source << 8 | Device.NI


def padded(words: int) -> int:
    """Bytes that a payload of so many words takes in queues and on the wire: the send engine moves 8 bytes (readings
    B1).
    """
    return words + (words & 1) << 2


def distance(sequence: int, expected: int) -> int:
    """How far `sequence` is ahead of `expected`, -128..127, both wrapping at 8 bits."""
    ahead = sequence - expected & COUNTER_MASK
    return ahead - (COUNTER_MASK + 1) if ahead > MAX_WINDOW else ahead


def endpoint(vnn: int, device: int) -> int:
    """The 16-bit endpoint of the header."""
    return vnn << 8 | device


class Reference(NamedTuple):
    """What the 32-bit endpoint reference of the API says (readings B1)."""

    vnn: int
    device: int
    channel: int

    def pack(self) -> int:
        """The 32 bits. Raises ValueError naming the field that does not fit."""
        for name, limit in (("vnn", MAX_VNN), ("device", 0xFF), ("channel", 0xFFFF)):
            if not 0 <= getattr(self, name) <= limit:
                raise ValueError(f"{name} {getattr(self, name)} is not in 0..{limit}")
        return self.vnn << 24 | self.device << 16 | self.channel


def reference(word: int) -> Reference:
    """The parts of a 32-bit endpoint reference."""
    return Reference(word >> 24 & 0xFF, word >> 16 & 0xFF, word & 0xFFFF)
