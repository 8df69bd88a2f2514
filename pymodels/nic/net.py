"""Models of the packet interface: bytes sent to the wire, and SRAM content after a received packet (fact sheet 3.5)."""

from __future__ import annotations

from dataclasses import dataclass


def crc8(data: bytes) -> int:
    """Return the CRC-8 of bytes: polynomial 0x07, initial value 0, most significant bit first (fact sheet 1.3)."""
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc << 1 ^ (0x107 if crc & 0x80 else 0)) & 0x1FF
    return crc


def packet_key(packet: bytes) -> int:
    """Return the first four bytes after the route, big-endian; route bytes have the top bit set, short packets are
    padded.
    """
    start = next((i for i, byte in enumerate(packet) if byte < 0x80), len(packet))
    return int.from_bytes(packet[start : start + 4].ljust(4, b"\0"), "big")


class SendModel:
    """Send engine at register level: each limit adds bytes, SMLT ends the packet.

    Args:
        sram: SRAM image, read when a limit is written.
    """

    def __init__(self, sram: bytearray) -> None:
        self.sram = sram
        self.packets: list[bytes] = []
        """Sent packets, with CRC-8."""
        self.begins: list[int] = []
        """SRAM address of the first byte of each packet."""
        self._begin = 0
        self._smp = 0
        self._align = 0
        self._fresh = False
        self._open = bytearray()

    def write_smp(self, address: int) -> None:
        """Set the start address of the next piece."""
        self._smp, self._fresh = address, True

    def write_sa(self, align: int) -> None:
        """Set the number of bytes, less than a word, that are skipped at the start of a piece after SMP was written."""
        self._align = align

    def write_limit(self, limit: int, tail: bool) -> None:
        """Write SML, or SMLT if `tail`: send up to `limit`, exclusive."""
        if self._fresh:
            self._smp, self._fresh = self._smp + self._align, False
        if not self._open:
            self._begin = self._smp
        self._open += self.sram[self._smp : max(limit, self._smp)]
        self._smp = max(limit, self._smp)
        if tail and self._open:
            self.packets.append(bytes(self._open) + bytes([crc8(bytes(self._open))]))
            self.begins.append(self._begin)
            self._open.clear()

    @property
    def smp(self) -> int:
        """Value of SMP when the engine is idle."""
        return self._smp


@dataclass(frozen=True)
class Received:
    """Register values after the tail of a packet."""

    rmp: int
    orun: int
    length: int
    """Number of stored bytes, including the syndrome."""
    syndrome: int
    buffers: int
    """Number of times that BUFF was raised."""


class ReceiveModel:
    """Receive engine that stores packets into a list of buffers.

    Args:
        sram: SRAM image, written.
        word: Bytes of an SRAM word, by which RMP advances.
    """

    def __init__(self, sram: bytearray, word: int = 8) -> None:
        self.sram, self.word = sram, word

    def packet(self, characters: bytes, buffers: list[tuple[int, int]]) -> Received:
        """Store a packet into buffers (RMP, RML), continuing with the next one when RMP reaches RML.

        Args:
            characters: Bytes of the packet with the CRC character.
            buffers: RMP and RML of each buffer.
        """
        syndrome = crc8(characters)
        stored = characters[:-1] + bytes([syndrome])
        rmp, rml = buffers[0]
        used = 0
        for at in range(0, len(stored), self.word):
            if rmp >= rml:
                used += 1
                rmp, rml = buffers[used]
            word = stored[at : at + self.word]
            self.sram[rmp : rmp + len(word)] = word
            rmp += self.word
        return Received(rmp, -len(stored) % self.word, len(stored), syndrome, used)
