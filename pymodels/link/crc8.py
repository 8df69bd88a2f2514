"""CRC-8 of a Myrinet packet: polynomial x^8 + x^2 + x + 1 (0x07), initial value 0, most significant bit first.

Source: fact sheet 1.3 (from memory, hence one constant). The CRC over a correct packet with its CRC byte is 0.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

POLYNOMIAL = 0x07
"""Polynomial without its leading term."""


def _table() -> npt.NDArray[np.uint8]:
    table = np.zeros(256, dtype=np.uint8)
    for byte in range(256):
        register = byte
        for _ in range(8):
            register = (register << 1) ^ (POLYNOMIAL if register & 0x80 else 0)
            register &= 0xFF
        table[byte] = register
    return table


TABLE: npt.NDArray[np.uint8] = _table()
"""CRC register after one byte, indexed by register XOR byte; shape (256,)."""
_STEPS: bytes = TABLE.tobytes()


def crc8(data: bytes, crc: int = 0) -> int:
    """Return the CRC register after `data`, starting from `crc`."""
    for byte in data:
        crc = _STEPS[crc ^ byte]
    return crc


def crc8_rows(rows: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Return the CRC-8 of each row of a matrix: shape (packets, bytes) to (packets,)."""
    crc = np.zeros(rows.shape[0], dtype=np.uint8)
    for column in rows.T:
        crc = TABLE[crc ^ column]
    return crc
