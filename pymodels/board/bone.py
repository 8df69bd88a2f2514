"""Serial protocol of a board, as bytes: commands of LiteX's UARTBone, and the two checks that extend it.

A command is one byte (`WRITE`, `READ`) and the number of words (1 to `MAX_WORDS`). The address divided by 4 follows in
four bytes, most significant first. The words of a write follow, most significant byte first; the reply to a read is its
words in the same form. A write has no reply. Bytes other than `WRITE` and `READ` are ignored between commands, and a
command for 0 words has no effect.

Rules for a host:

1. Send a command only when all replies to earlier reads have arrived. The board buffers 16 bytes.
2. If more than `TIMEOUT` bus clocks (a register) pass between two bytes of a command, the board drops the command. A
   host that has lost its place therefore stays quiet for longer than that, discards what arrives, and reads IDENTITY.
   A board whose clocks are slower than their nominal frequency needs more time: try again with twice the pause.
3. UARTBone has no checksum. Registers LINE_CHECK and REPLY_CHECK, read by one command of two words, return the CRC-32
   of all bytes received since the last such command, its own six bytes included, and of all bytes sent before its reply
   since the last such command, the reply to that one included. `Checks` computes the same on the host's side. The first
   such command after a new connection has an unknown result and starts the checks.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

from pymodels.board.map import ControlRegister, control

WRITE, READ = 0x01, 0x02
MAX_WORDS = 255
HEADER_BYTES = 6
BUFFER_BYTES = 16
"""Bytes that the board buffers while it executes a command."""


def write_command(address: int, words: Sequence[int]) -> bytes:
    """Return the bytes of a write to consecutive words.

    Args:
        address: Byte address of the first word, a multiple of 4.
        words: 1 to `MAX_WORDS` words of 32 bits.

    Raises:
        ValueError: Address not aligned, or too few or too many words.
    """
    return _header(WRITE, address, len(words)) + struct.pack(f">{len(words)}I", *words)


def read_command(address: int, count: int = 1) -> bytes:
    """Return the bytes of a read of consecutive words.

    Args:
        address: Byte address of the first word, a multiple of 4.
        count: Words, 1 to `MAX_WORDS`.

    Raises:
        ValueError: Address not aligned, or too few or too many words.
    """
    return _header(READ, address, count)


def reply_words(reply: bytes) -> tuple[int, ...]:
    """Return the words of the reply to a read."""
    return struct.unpack(f">{len(reply) // 4}I", reply)


def _header(command: int, address: int, count: int) -> bytes:
    if address % 4 or not 1 <= count <= MAX_WORDS:
        raise ValueError(f"not a command: {count} words at {address:#x}")
    return struct.pack(">BBI", command, count, address >> 2)


CHECK_COMMAND = read_command(control(ControlRegister.LINE_CHECK), 2)
"""Command that reads both checks and restarts them."""


@dataclass
class Checks:
    """CRC-32 of the bytes of both directions since the last `CHECK_COMMAND`, as the board computes them."""

    sent: int = 0
    received: int = 0

    def send(self, data: bytes) -> None:
        """Account for bytes sent to the board."""
        self.sent = zlib.crc32(data, self.sent)

    def receive(self, data: bytes) -> None:
        """Account for bytes received from the board."""
        self.received = zlib.crc32(data, self.received)

    def expected(self) -> tuple[int, int]:
        """Return the words that the board must send for a `CHECK_COMMAND` just accounted for, and restart both
        checks. The reply itself is then accounted for as the first bytes received.
        """
        words = self.sent, self.received
        self.sent = self.received = 0
        return words
