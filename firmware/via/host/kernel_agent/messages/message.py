"""Messages between kernel agents, and their encoding."""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import NamedTuple


class Type(IntEnum):
    """Type of a message."""

    REQUEST = 1
    ACCEPT = 2
    REJECT = 3
    CONFIRM = 4
    DISCONNECT = 5
    PEER = 6
    READY = 7
    GONE = 8


FORMAT = struct.Struct(">9I")


class Message(NamedTuple):
    """Message between kernel agents."""

    type: int
    source: int
    """Sending node."""
    origin: int
    """Node of the connection's client; for peers, the lower node."""
    number: int
    """Number of the connection at its origin; in PEER, at the sender; in READY, at the receiver."""
    client: int
    """VI of the client; in PEER and READY, of the sender."""
    server: int
    """VI of the server; in READY, the connection's number at the sender."""
    discriminator: int
    reliability: int
    most: int

    @property
    def name(self) -> tuple[int, int]:
        """Name of the connection, unique in the cluster."""
        return self.origin, self.number

    def packed(self) -> bytes:
        """Return the encoded message."""
        return FORMAT.pack(*self)

    @classmethod
    def decode(cls, data: bytes) -> Message:
        """Decode a received message, which further bytes may follow."""
        return cls(*FORMAT.unpack(data[: FORMAT.size]))
