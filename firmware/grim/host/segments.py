"""Segmentation of messages.

All pieces but the last are SEGMENT messages with arguments {total bytes, offset}. The last piece is an ordinary active
message with the user's handler and arguments; in a multicast tree it has a type of its own. The receiver reassembles
the pieces and calls the handler once (readings B4).

All pieces for an FPGA card have one type, the user's handler and arguments, and their place in the message. A circuit
needs the arguments at its first word. The first piece waits until the channel's queue is empty. From then on the card
accepts no other message, so no piece may wait behind a message for another card.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from firmware.grim.formats import CONTINUES, MAX_SEND, MORE, MessageType, logical_channel, message_words
from firmware.grim.host.arguments import octets, whole
from firmware.grim.host.channel_queue import LonePiece, Piece, Region
from firmware.grim.host.errors import GrimError

Payload = bytes | bytearray | memoryview | Region | Any
"""Payload of a message: bytes, an object with the buffer protocol (numpy arrays), or a `Region` of host memory at a
multiple of 4.
"""

Kinds = tuple[int, int, int]
"""Types of a single-piece message, of the last of several pieces, and of the pieces before it."""
ACTIVE: Kinds = (MessageType.ACTIVE, MessageType.ACTIVE, MessageType.SEGMENT)
CARD: Kinds = (MessageType.ACTIVE, MessageType.CARD_SEGMENT, MessageType.CARD_SEGMENT)
MULTICAST: Kinds = (MessageType.MULTICAST, MessageType.MULTICAST_LAST, MessageType.MULTICAST_SEGMENT)


def payload_parts(payload: Payload) -> tuple[bytes | memoryview, int, int]:
    """Return a payload as (bytes, address in host memory or 0, size). Raises GrimError for an invalid payload."""
    if isinstance(payload, bytes):
        data: bytes | memoryview = payload
        address, size = 0, len(payload)
    elif hasattr(payload, "address") and hasattr(payload, "size"):
        data, address, size = b"", whole("payload", payload.address), whole("payload", payload.size)
        if size < 0:
            raise GrimError("payload", f"region of {size} bytes", "give a size of 0 or more")
        if address & 3 or not address:
            raise GrimError("payload", f"address {address:#x} is not a multiple of 4", "align it to a word")
    else:
        data = octets("payload", payload)
        address, size = 0, len(data)
    if size > MAX_SEND:
        raise GrimError("payload", f"{size} bytes; one send carries at most {MAX_SEND}", "send it in parts")
    return data, address if size else 0, size


class Target:
    """Destination of messages: the fixed fields of their headers, and their stream number."""

    __slots__ = ("channel", "channels", "destination", "kinds", "source", "stream", "tree")

    def __init__(
        self,
        source: int,
        destination: int,
        channels: tuple[int, int],
        stream: int,
        kinds: Kinds = ACTIVE,
        tree: int = 0,
    ) -> None:
        self.kinds = kinds
        """Types of the messages."""
        self.source = source
        """Source endpoint."""
        self.destination = destination
        """Destination endpoint."""
        self.channels = logical_channel(*channels)
        """Logical channel."""
        self.channel = channels[0]
        """Channel of this host."""
        self.stream = stream
        self.tree = tree
        """Multicast tree."""

    def words(self, kind: int, size: int, handler: int) -> tuple[int, int, int]:
        """Return words 1 to 3 of a message to this target."""
        return message_words(kind, size, self.source, self.destination, self.channels, handler, self.tree)


def cut(
    target: Target,
    handler: int,
    arguments: tuple[int, int, int, int],
    parts: tuple[bytes | memoryview, int, int],
    most: int,
    message: int,
) -> Iterator[Piece]:
    """Yield the pieces of message number `message`, each with at most `most` payload bytes (a multiple of 4)."""
    data, address, size = parts
    begin, (whole, end, segment) = 0, target.kinds
    if segment == MessageType.CARD_SEGMENT and size > most:
        yield from _cut_for_card(target, handler, arguments, parts, most, message)
        return
    while size - begin > most:
        words = (*target.words(segment, most, handler), size, begin, 0, 0)
        piece = b"" if address else memoryview(data)[begin : begin + most]
        yield Piece(words, most, piece, address + begin if address else 0, target.stream, message)
        begin += most
    rest = size - begin
    words = (*target.words(end if begin else whole, rest, handler), *arguments)
    last = b"" if address or not rest else memoryview(data)[begin:] if begin else data
    yield Piece(words, rest, last, address + begin if address else 0, target.stream, message)


def _cut_for_card(
    target: Target,
    handler: int,
    arguments: tuple[int, int, int, int],
    parts: tuple[bytes | memoryview, int, int],
    most: int,
    message: int,
) -> Iterator[Piece]:
    """Yield the pieces of a message to an FPGA card that is longer than a segment."""
    data, address, size = parts
    for begin in range(0, size, most):
        part = min(most, size - begin)
        w1, w2, w3 = target.words(MessageType.CARD_SEGMENT, part, handler)
        place = (CONTINUES if begin else 0) | (MORE if begin + part < size else 0)
        piece = b"" if address else memoryview(data)[begin : begin + part]
        kind = Piece if begin else LonePiece
        where = address + begin if address else 0
        yield kind((w1 | place, w2, w3, *arguments), part, piece, where, target.stream, message)
