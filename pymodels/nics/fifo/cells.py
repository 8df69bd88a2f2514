"""ATM cells: 53 bytes, a header of 4 with its check, 48 of payload (ITU-T I.361, I.432)."""

from __future__ import annotations

from dataclasses import dataclass

from pymodels.link.crc8 import crc8
from pymodels.nics.fifo.registers import HEC_COSET, Size


def hec(header: int) -> int:
    """Return the header error check (HEC) of a header."""
    return crc8(header.to_bytes(4, "big")) ^ HEC_COSET


@dataclass(frozen=True)
class Cell:
    """ATM cell."""

    header: int
    """Header of 32 bits: GFC 4, VPI 8, VCI 16, PT 3, CLP 1."""
    payload: bytes

    @property
    def wire(self) -> bytes:
        """Cell as 53 bytes on the wire."""
        return self.header.to_bytes(4, "big") + bytes([hec(self.header)]) + self.payload

    @classmethod
    def read(cls, wire: bytes) -> Cell | None:
        """Return the cell in 53 bytes, or None for another size or a wrong HEC."""
        header = int.from_bytes(wire[:4], "big")
        if len(wire) != Size.CELL or wire[4] != hec(header):
            return None
        return cls(header, wire[5:])
