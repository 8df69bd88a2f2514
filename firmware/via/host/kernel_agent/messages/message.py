"""The messages between kernel agents, as words."""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import NamedTuple


class Type(IntEnum):
    """Of a message."""

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
    """A message between kernel agents."""

    type: int
    source: int
    """Node."""
    origin: int
    """Node of the connection's client; between equals, the lower one."""
    number: int
    """Of the connection, at its origin; of PEER, at its sender; of READY, at the peer to which it goes."""
    client: int
    """The client's VI; of PEER and READY, the sender's."""
    server: int
    """The server's VI; of READY, the connection's number at its sender."""
    discriminator: int
    reliability: int
    most: int

    @property
    def name(self) -> tuple[int, int]:
        """Of the connection: no other one in the cluster has it."""
        return self.origin, self.number

    def packed(self) -> bytes:
        """As it travels."""
        return FORMAT.pack(*self)

    @classmethod
    def of(cls, data: bytes) -> Message:
        """Decode a received message; more bytes may follow it."""
        return cls(*FORMAT.unpack(data[: FORMAT.size]))
