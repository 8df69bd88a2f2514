"""The data path of the SP adapter as a function: commands, packets sent, packets received (paper 001, 3.1.2).

Written from the words of the paper and the register map, step by step and without time: what host memory, the wire
and the processor must see in the end.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

HEADERS, USER = 24, 2032
"""Bytes of switch header and VIA header, and user bytes of a packet at most."""


@dataclass
class Coming:
    """A packet as it comes in: all its bytes with the CRC character, and whether that is right."""

    wire: bytes
    good_crc: bool = True

    @property
    def bad_size(self) -> bool:
        """Shorter than headers and CRC character, or longer than a packet may be."""
        return not HEADERS + 1 <= len(self.wire) <= HEADERS + USER + 1

    @property
    def user(self) -> bytes:
        """Its user data."""
        return b"" if self.bad_size else self.wire[HEADERS:-1]

    @property
    def status(self) -> int:
        """RECV_STATUS."""
        return len(self.user) | (not self.good_crc) << 16 | self.bad_size << 17

    def word(self, index: int) -> int:
        """RECV0 to RECV7."""
        return int.from_bytes(self.wire[4 * index : 4 * index + 4].ljust(4, b"\0"), "big")


@dataclass
class SpModel:
    """One adapter between `host` memory and its link."""

    host: bytearray
    fifo: deque[bytes] = field(default_factory=deque)
    """The Send FIFO, one FETCH an entry."""
    read: bytes = b""
    """What the last READ brought."""
    fetched: int = 0
    stored: int = 0
    alarms: int = 0

    def fetch(self, address: int, size: int) -> None:
        """FETCH."""
        if size:
            self.fifo.append(bytes(self.host[address : address + size]))
        self.fetched += 1

    def bring(self, address: int, size: int) -> None:
        """READ."""
        self.read = bytes(self.host[address : address + size])

    def store(self, address: int, data: bytes) -> None:
        """STORE, of the processor's words or a packet's bytes."""
        self.host[address : address + len(data)] = data
        self.stored += 1

    def send(self, words: list[int], own: bytes | None = None) -> bytes:
        """A packet: six header words, then the oldest FETCH or the processor's `own` bytes. Without its CRC."""
        header = b"".join(word.to_bytes(4, "big") for word in words)
        return header + (self.fifo.popleft() if own is None else own)
