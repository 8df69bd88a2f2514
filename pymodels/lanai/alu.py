"""Arithmetic unit of the LANai: results and flags of 32-bit words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from pymodels.lanai.isa import WORD, Condition, Count, Op, signed


@dataclass
class Flags:
    """Condition flags Z (zero), N (negative), V (overflow), C (carry); after a subtraction C = 1 means no borrow."""

    z: int = 0
    n: int = 0
    v: int = 0
    c: int = 0

    def holds(self, condition: Condition) -> bool:
        """Return True if a condition holds. The lowest bit of its code inverts it."""
        z, n, v, c = self.z, self.n, self.v, self.c
        even = (1, c & ~z, 1 - c, 1 - z, 1 - v, 1 - n, 1 - (n ^ v), (1 - (n ^ v)) & (1 - z))[condition >> 1]
        return bool(even ^ condition & 1)


class Result(NamedTuple):
    """Result of an operation with the flags C and V; Z and N follow from the value."""

    value: int
    carry: int = 0
    overflow: int = 0


def calculate(op: Op, a: int, b: int, carry: int, arithmetic: bool = False) -> Result:
    """Return `a op b`. `carry` is the flag C before the operation, used by `addc` and `subb` only."""
    if op < Op.AND:
        return _sum(a, b ^ WORD if op >= Op.SUB else b, carry if op & 1 else op >> 1)
    if op == Op.SHIFT:
        return _shifted(a, signed(b), arithmetic)
    return Result(a & b if op == Op.AND else a | b if op == Op.OR else a ^ b)


def _sum(a: int, b: int, carry: int) -> Result:
    total = a + b + carry
    return Result(total & WORD, total >> 32, (~(a ^ b) & (a ^ total)) >> 31 & 1)


def _shifted(a: int, by: int, arithmetic: bool) -> Result:
    """Shift left by a positive amount, right by a negative one; C is the last bit shifted out to the left.

    Amounts beyond 31 are not defined; only their five lowest bits count here (assumed).
    """
    if by < 0:
        right = -by & 31
        return Result((signed(a) if arithmetic else a) >> right & WORD)
    left = by & 31
    return Result(a << left & WORD, a >> 32 - left & 1 if left else 0)


def counted(count: Count, a: int) -> int:
    """Return the number of ones, leading zeros or trailing zeros of a word."""
    if count is Count.POPC:
        return a.bit_count()
    return 32 - a.bit_length() if count is Count.LEADZ else (a & -a).bit_length() - 1 if a else 32
