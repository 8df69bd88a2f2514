"""The six relocation types of the LANai, all absolute: encoding of an address in a word, and its constraints."""

from __future__ import annotations

from enum import IntEnum

from pymodels.lanai.isa import BY_NAME, CODE_END, WORD


class Kind(IntEnum):
    """Relocation types R_LANAI_*."""

    NONE = 0
    ABS_21 = 1
    ABS_21_F = 2
    ABS_25 = 3
    ABS_32 = 4
    HI16 = 5
    LO16 = 6


_21 = 1 << 21
_SLI = BY_NAME["SLI"].fields
_TARGET = BY_NAME["BR"].fields["target"]
_K = BY_NAME["RI"].fields["k"]


def refused(kind: int, value: int) -> str:
    """Return the reason why a relocation cannot encode an address; empty if it can."""
    if kind not in Kind.__members__.values():
        return f"relocation {kind} is unknown"
    if kind in (Kind.ABS_21, Kind.ABS_21_F) and value >= _21:
        return f"{value:#x} has more than 21 bits"
    if kind == Kind.ABS_25 and value >= CODE_END:
        return f"a branch cannot reach {value:#x}"
    if kind in (Kind.ABS_21_F, Kind.ABS_25) and value & 3:
        return f"{value:#x} is not a multiple of 4"
    return ""


def _of_21(word: int, value: int) -> int:
    top, low = _SLI["top"], _SLI["k"]
    return word & ~(top.mask | low.mask) | top.put(value >> 16) | low.put(value & 0xFFFF)


def relocated(kind: int, word: int, value: int) -> int:
    """Return the word with a valid address inserted."""
    if kind in (Kind.ABS_21, Kind.ABS_21_F):
        return _of_21(word, value)
    if kind == Kind.ABS_25:
        return word & ~_TARGET.mask | _TARGET.put(value >> 2)
    if kind == Kind.ABS_32:
        return value & WORD
    if kind == Kind.HI16:
        return word & ~_K.mask | value >> 16
    return word & ~_K.mask | value & 0xFFFF if kind == Kind.LO16 else word
