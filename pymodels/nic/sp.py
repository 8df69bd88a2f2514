"""The data path of the SP adapter as a function: commands, packets sent, packets received (paper 001, 3.1.2).

Written from the words of the paper and the register map, step by step and without time: what host memory, the wire
and the processor must see in the end.
"""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass, field

SWITCH_HEADER, HEADERS, USER = 16, 24, 2032
"""Bytes of the switch header, of it and the VIA header, and user bytes of a packet at most."""


@dataclass
class Coming:
    """A packet as it comes in: all its bytes with the CRC character, and whether that is right."""

    wire: bytes
    good_crc: bool = True

    @classmethod
    def random(cls, rng: random.Random, user: int, good_crc: bool = True) -> Coming:
        """With so many user bytes, and a header that tells so."""
        wire = bytearray(rng.randbytes(HEADERS + user + 1))
        wire[10:12] = (HEADERS - SWITCH_HEADER + user).to_bytes(2, "big")
        return cls(bytes(wire), good_crc)

    @property
    def impossible(self) -> bool:
        """Shorter than headers and CRC character, or longer than a packet may be."""
        return not HEADERS + 1 <= len(self.wire) <= HEADERS + USER + 1

    @property
    def bad_size(self) -> bool:
        """Impossible, or not as long as bytes 10 and 11 tell: payload, VIA header and user data."""
        return self.impossible or len(self.wire) != SWITCH_HEADER + int.from_bytes(self.wire[10:12], "big") + 1

    @property
    def user(self) -> bytes:
        """Its user data."""
        return b"" if self.impossible else self.wire[HEADERS:-1]

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
