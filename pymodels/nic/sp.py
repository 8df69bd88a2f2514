"""Functional model of the SP adapter's data path: commands, sent packets, received packets (paper 001, 3.1.2).

The model is written from the paper and the register map, without time. It defines the final content of host memory, the
wire and the registers.
"""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass, field

SWITCH_HEADER, HEADERS, USER = 16, 24, 2032
"""Bytes of the switch header, of switch and VIA header, and maximum user bytes of a packet."""


@dataclass
class Coming:
    """Incoming packet: all bytes with the CRC character, and whether the CRC is correct."""

    wire: bytes
    good_crc: bool = True

    @classmethod
    def random(cls, rng: random.Random, user: int, good_crc: bool = True) -> Coming:
        """Return a random packet with `user` bytes of user data and a header with the matching size."""
        wire = bytearray(rng.randbytes(HEADERS + user + 1))
        wire[10:12] = (HEADERS - SWITCH_HEADER + user).to_bytes(2, "big")
        return cls(bytes(wire), good_crc)

    @property
    def impossible(self) -> bool:
        """True if the packet is shorter than headers and CRC character, or longer than the maximum."""
        return not HEADERS + 1 <= len(self.wire) <= HEADERS + USER + 1

    @property
    def bad_size(self) -> bool:
        """True if the size is impossible, or differs from that in bytes 10 and 11 (VIA header and user data)."""
        return self.impossible or len(self.wire) != SWITCH_HEADER + int.from_bytes(self.wire[10:12], "big") + 1

    @property
    def user(self) -> bytes:
        """User data of the packet."""
        return b"" if self.impossible else self.wire[HEADERS:-1]

    @property
    def status(self) -> int:
        """Value of RECV_STATUS."""
        return len(self.user) | (not self.good_crc) << 16 | self.bad_size << 17

    def word(self, index: int) -> int:
        """Return the value of RECV0 to RECV7."""
        return int.from_bytes(self.wire[4 * index : 4 * index + 4].ljust(4, b"\0"), "big")


@dataclass
class SpModel:
    """Adapter between `host` memory and its link."""

    host: bytearray
    fifo: deque[bytes] = field(default_factory=deque)
    """Send FIFO, one entry for each FETCH."""
    read: bytes = b""
    """Result of the last READ."""
    fetched: int = 0
    stored: int = 0
    alarms: int = 0

    def fetch(self, address: int, size: int) -> None:
        """Execute FETCH."""
        if size:
            self.fifo.append(bytes(self.host[address : address + size]))
        self.fetched += 1

    def bring(self, address: int, size: int) -> None:
        """Execute READ."""
        self.read = bytes(self.host[address : address + size])

    def store(self, address: int, data: bytes) -> None:
        """Execute STORE of the processor's words or of a packet's bytes."""
        self.host[address : address + len(data)] = data
        self.stored += 1

    def send(self, words: list[int], own: bytes | None = None) -> bytes:
        """Return a packet without CRC: six header words, then the oldest FETCH or the processor's `own` bytes."""
        header = b"".join(word.to_bytes(4, "big") for word in words)
        return header + (self.fifo.popleft() if own is None else own)
