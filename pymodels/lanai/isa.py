"""Instruction set of the LANai as one table: formats with their fields, operations, conditions, registers.

Decoder, disassembler, simulator and tests use this table, and the HDL package of the core is generated from it. Bit 31
is the leftmost; words are big-endian. Comments describe the fields; what clang-16 and Myricom's binutils leave open is
marked *assumed*.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

WORD = 0xFFFFFFFF
CODE_END = 1 << 25
"""End of the address range for code: a branch has 23 bits for its target word."""
ZERO, ONES, PC, PS, SP, FP, RV, RCA = 0, 1, 2, 3, 4, 5, 8, 15
"""Registers with a special meaning: constant 0, constant all ones, program counter, status (only before the LANai 9),
stack pointer, frame pointer, return value, return address.
"""
REGISTERS = 32
NOP = 0x00000001
"""Word that assemblers write for `nop`: an addition whose result is discarded."""


class Op(IntEnum):
    """Operations of the formats RI, RR and RRM (for the address)."""

    ADD = 0
    ADDC = 1
    SUB = 2
    SUBB = 3
    AND = 4
    OR = 5
    XOR = 6
    SHIFT = 7


class Count(IntEnum):
    """Operations of the format SPECIAL."""

    POPC = 1
    LEADZ = 2
    TRAILZ = 3


class Condition(IntEnum):
    """Conditions of branch, set, select and RR instructions; the lowest bit inverts."""

    T = 0
    F = 1
    HI = 2
    LS = 3
    CC = 4
    CS = 5
    NE = 6
    EQ = 7
    VC = 8
    VS = 9
    PL = 10
    MI = 11
    GE = 12
    LT = 13
    GT = 14
    LE = 15


class Special(IntEnum):
    """Values of the field J in an RR or RRM instruction with operation SHIFT; only the two upper bits of a shift
    matter.
    """

    SELECT = 0b00000
    LOGICAL = 0b10000
    ARITHMETIC = 0b11000


@dataclass(frozen=True)
class Field:
    """Bits `high` to `low` of a word."""

    high: int
    low: int
    signed: bool = False

    @property
    def mask(self) -> int:
        """Mask of the field's bits."""
        return (1 << self.high + 1) - (1 << self.low)

    def get(self, word: int) -> int:
        """Return the value of the field in a word."""
        value = (word & self.mask) >> self.low
        return value - (1 << self.high - self.low + 1) if self.signed and word >> self.high & 1 else value

    def put(self, value: int) -> int:
        """Return a word with this value in the field and 0 elsewhere. Raises ValueError if the value does not fit."""
        word = value << self.low & self.mask
        if self.get(word) != value:
            raise ValueError(f"{value} does not fit into bits {self.high}..{self.low}")
        return word


def _bit(place: int) -> Field:
    return Field(place, place)


RD, RS1, RS2 = Field(27, 23), Field(22, 18), Field(15, 11)
_PQ = {"p": _bit(17), "q": _bit(16)}
_OPERATION = {"rs2": RS2, "op": Field(10, 8), "j": Field(7, 3)}
_DDDI = {"d": Field(27, 25), "i": _bit(0)}
_21 = {"top": Field(22, 18), "k": Field(15, 0)}


@dataclass(frozen=True)
class Format:
    """Instruction format of the words with `word & mask == match`; bits outside of `fields` are ignored."""

    name: str
    mask: int
    match: int
    fields: Mapping[str, Field]

    def get(self, word: int) -> dict[str, int]:
        """Return the values of all fields of a word."""
        return {name: field.get(word) for name, field in self.fields.items()}

    def encode(self, **values: int) -> int:
        """Return the word with these field values, 0 for fields not given. Raises ValueError if a value does
        not fit.
        """
        return self.match | sum(self.fields[name].put(value) for name, value in values.items())


FORMATS = (
    # Rd <- Rs1 op k. h: k is in the upper half; a shift with h is arithmetic. f: sets flags.
    Format("RI", 0x80000000, 0x00000000, {"op": Field(30, 28), "rd": RD, "rs1": RS1, "f": _bit(17), "h": _bit(16),
                                          "k": Field(15, 0)}),
    # Load (with s store) of a word. p: the address is Rs1 + k, else Rs1. q: Rs1 <- Rs1 + k.
    Format("RM", 0xE0000000, 0x80000000, {"s": _bit(28), "rd": RD, "rs1": RS1, **_PQ, "k": Field(15, 0, signed=True)}),
    # Like RM with Rs1 op Rs2 in place of Rs1 + k. l: word, else y: byte, else half-word; e: zero-extend a load.
    Format("RRM", 0xE0000000, 0xA0000000, {"s": _bit(28), "rd": RD, "rs1": RS1, **_PQ, **_OPERATION,
                                           "y": _bit(2), "l": _bit(1), "e": _bit(0)}),
    # Rd <- Rs1 op Rs2 if the condition {d, i} holds, or select: Rd <- condition ? Rs1 : Rs2.
    Format("RR", 0xF0000000, 0xC0000000, {"rd": RD, "rs1": RS1, "f": _bit(17), "i": _bit(16), **_OPERATION,
                                          "d": Field(2, 0)}),
    # Rd <- bit count of Rs1.
    Format("SPECIAL", 0xF0000000, 0xD0000000, {"rd": RD, "rs1": RS1, "f": _bit(17), "op": Field(2, 0)}),
    # pc <- 4 * target if the condition holds.
    Format("BR", 0xF0000002, 0xE0000000, {**_DDDI, "target": Field(24, 2)}),
    # pc <- Rs1 + 4 * k if the condition holds; Rs1 = r0 denotes pc.
    Format("BRR", 0xF1000002, 0xE1000002, {**_DDDI, "rs1": RS1, "k": Field(15, 2, signed=True)}),
    # Rd <- 1 if the condition holds, else 0. Rd is in the field Rs1 of other formats.
    Format("SCC", 0xF1000002, 0xE0000002, {**_DDDI, "rd": RS1}),
    # Load or store of a word at an address of 21 bits, whose two lowest are ignored.
    Format("SLS", 0xF0020000, 0xF0000000, {"rd": RD, **_21, "s": _bit(16)}),
    # Rd <- a constant of 21 bits.
    Format("SLI", 0xF0030000, 0xF0020000, {"rd": RD, **_21}),
    # Load or store of a half-word (with y of a byte), as in RM.
    Format("SPLS", 0xF0038000, 0xF0030000, {"rd": RD, "rs1": RS1, "y": _bit(14), "s": _bit(13), "e": _bit(12),
                                            "p": _bit(11), "q": _bit(10), "k": Field(9, 0, signed=True)}),
)  # fmt: skip
"""All formats. A word matches at most one; a word without a format is illegal."""

BY_NAME = {one.name: one for one in FORMATS}


def format_of(word: int) -> Format | None:
    """Return the format of a word, or None if it is illegal."""
    return next((one for one in FORMATS if word & one.mask == one.match), None)


def signed(value: int) -> int:
    """Return a 32-bit word as a signed number."""
    return value - (1 << 32) if value >> 31 else value


def names(status: bool = False) -> tuple[str, ...]:
    """Return the assembler names of the registers; `status` is True for a chip whose r3 is the status register."""
    known = {PC: "%pc", SP: "%sp", FP: "%fp", RV: "%rv", 10: "%rr1", 11: "%rr2", RCA: "%rca"}
    known |= {PS: "%ps"} if status else {}
    return tuple(known.get(number, f"%r{number}") for number in range(REGISTERS))
