"""Characters of a link: 9 bits, a data flag above a byte. Codes: fact sheet 1.3 (BEAT's code is ours)."""

from __future__ import annotations

from enum import IntEnum

DATA = 0x100
"""Flag of data characters."""


class Symbol(IntEnum):
    """Control characters, as sent."""

    IDLE = 0x00
    GO = 0x03
    GAP = 0x0C
    STOP = 0x0F
    BEAT = 0x30


RECEIVED: dict[int, Symbol] = {**{int(symbol): symbol for symbol in Symbol}, 0x02: Symbol.GO, 0x08: Symbol.STOP}
"""Interpretation of control characters by a receiver: 1-to-0 errors of GO and STOP are tolerated, others are illegal.
"""


def data(byte: int) -> int:
    """Return the character that carries a byte."""
    if not 0 <= byte <= 0xFF:
        raise ValueError(f"a character carries one byte, 0..255, not {byte}")
    return DATA | byte


def decode(character: int) -> int | Symbol | None:
    """Return the byte of a data character as an int, a Symbol, or None for an illegal control character."""
    if not 0 <= character <= 0x1FF:
        raise ValueError(f"a character has 9 bits, not {character:#x}")
    return character & 0xFF if character & DATA else RECEIVED.get(character)


def packet_characters(wire: bytes) -> list[int]:
    """Return the characters of one packet with GAP; `wire` contains all bytes from the first route byte to the
    CRC-8.
    """
    return [*(DATA | byte for byte in wire), int(Symbol.GAP)]
