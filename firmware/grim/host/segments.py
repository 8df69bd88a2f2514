"""Segmentation of a message of any length.

All but the last piece are SEGMENT messages with arguments {total bytes, offset}; the last is an ordinary active
message with the user's handler and arguments, in a multicast tree one of a type of its own. The receiver reassembles
them and calls the handler once (readings B4).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from firmware.grim.formats import MAX_SEND, MessageType, logical_channel, message_words
from firmware.grim.host.arguments import octets, whole
from firmware.grim.host.channel_queue import Piece, Region
from firmware.grim.host.errors import GrimError

Payload = bytes | bytearray | memoryview | Region | Any
"""Bytes, anything with the buffer protocol (numpy arrays), or a `Region`: bytes in host memory at a multiple of 4."""

Kinds = tuple[int, int, int]
"""Types of a message of one piece, of the last of several pieces, and of those before it."""
ACTIVE: Kinds = (MessageType.ACTIVE, MessageType.ACTIVE, MessageType.SEGMENT)
MULTICAST: Kinds = (MessageType.MULTICAST, MessageType.MULTICAST_LAST, MessageType.MULTICAST_SEGMENT)


def payload_parts(payload: Payload) -> tuple[bytes | memoryview, int, int]:
    """(bytes, address in host memory or 0, size) of a payload. Raises GrimError."""
    if isinstance(payload, bytes):
        data: bytes | memoryview = payload
        address, size = 0, len(payload)
    elif hasattr(payload, "address") and hasattr(payload, "size"):
        data, address, size = b"", whole("payload", payload.address), whole("payload", payload.size)
        if size < 0:
            raise GrimError("payload", f"a region of {size} bytes", "give one of 0 or more")
        if address & 3 or not address:
            raise GrimError("payload", f"address {address:#x} is not a multiple of 4", "align it to a word")
    else:
        data = octets("payload", payload)
        address, size = 0, len(data)
    if size > MAX_SEND:
        raise GrimError("payload", f"{size} bytes; one send carries at most {MAX_SEND}", "send it in parts")
    return data, address if size else 0, size


class Target:
    """Where a message goes: the fixed fields of its header, and the number of its stream."""

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
        """Types of its messages."""
        self.source = source
        """Source endpoint."""
        self.destination = destination
        """Destination endpoint."""
        self.channels = logical_channel(*channels)
        """Logical channel."""
        self.channel = channels[0]
        """Own channel."""
        self.stream = stream
        self.tree = tree
        """Multicast tree."""

    def words(self, kind: int, size: int, handler: int) -> tuple[int, int, int]:
        """Words 1 to 3 of a message to it."""
        return message_words(kind, size, self.source, self.destination, self.channels, handler, self.tree)


def cut(
    target: Target,
    handler: int,
    arguments: tuple[int, int, int, int],
    parts: tuple[bytes | memoryview, int, int],
    most: int,
    send: int,
) -> Iterator[Piece]:
    """The pieces of message number `send`, each with at most `most` payload bytes (a multiple of 4)."""
    data, address, size = parts
    begin, (whole, end, segment) = 0, target.kinds
    while size - begin > most:
        words = (*target.words(segment, most, handler), size, begin, 0, 0)
        piece = b"" if address else memoryview(data)[begin : begin + most]
        yield Piece(words, most, piece, address + begin if address else 0, target.stream, send)
        begin += most
    rest = size - begin
    words = (*target.words(end if begin else whole, rest, handler), *arguments)
    last = b"" if address or not rest else memoryview(data)[begin:] if begin else data
    yield Piece(words, rest, last, address + begin if address else 0, target.stream, send)
