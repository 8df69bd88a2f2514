"""Small programs of LANai words for unit tests, and processors that run them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pymodels.lanai.chips import V11, Chip
from pymodels.lanai.faults import Fault
from pymodels.lanai.isa import BY_NAME, NOP, ZERO, Condition, Op
from pymodels.lanai.ports import Registers, Sram
from pymodels.lanai.simulator import Core

SRAM = 0x1000


def ri(op: Op, rd: int, rs1: int, k: int, *, high: bool = False, flags: bool = False) -> int:
    """Rd <- Rs1 op k."""
    return BY_NAME["RI"].encode(op=op, rd=rd, rs1=rs1, k=k & 0xFFFF, h=int(high), f=int(flags))


def rr(
    op: Op, rd: int, rs1: int, rs2: int, *, condition: Condition = Condition.T, flags: bool = False, j: int = 0
) -> int:
    """Rd <- Rs1 op Rs2, or with an operation SHIFT what `j` says."""
    d, i = divmod(condition, 2)
    return BY_NAME["RR"].encode(op=op, rd=rd, rs1=rs1, rs2=rs2, d=d, i=i, f=int(flags), j=j)


def load(rd: int, rs1: int, k: int, *, p: int = 1, q: int = 0) -> int:
    """Return a load of a word."""
    return BY_NAME["RM"].encode(rd=rd, rs1=rs1, k=k, p=p, q=q)


def store(rd: int, rs1: int, k: int, *, p: int = 1, q: int = 0) -> int:
    """Return a store of a word."""
    return BY_NAME["RM"].encode(s=1, rd=rd, rs1=rs1, k=k, p=p, q=q)


def part(
    rd: int, rs1: int, k: int, *, byte: bool, stores: bool = False, zero: bool = False, p: int = 1, q: int = 0
) -> int:
    """Return a load or store of a byte or half-word."""
    return BY_NAME["SPLS"].encode(rd=rd, rs1=rs1, k=k, y=int(byte), s=int(stores), e=int(zero), p=p, q=q)


def branch(target: int, condition: Condition = Condition.T) -> int:
    """Return a branch to an absolute address."""
    return BY_NAME["BR"].encode(target=target >> 2, d=condition >> 1, i=condition & 1)


def constant(rd: int, value: int) -> int:
    """Rd <- 21 bits."""
    return BY_NAME["SLI"].encode(rd=rd, top=value >> 16, k=value & 0xFFFF)


def wild(at: int) -> dict[Fault, int]:
    """Words that stop a processor by a fault, where all code from an address on is one of them."""
    return {Fault.ILLEGAL: 0xFFFF8000, Fault.SHADOW: branch(at), Fault.BEYOND: load(8, ZERO, -0x8000)}


def core(
    words: Sequence[int], chip: Chip = V11, values: Mapping[int, int] | None = None, special: Registers | None = None
) -> Core:
    """Return a processor with a program at address 0, and values in its registers."""
    sram = Sram(SRAM)
    for number, word in enumerate(words):
        sram.store(4 * number, word, 4)
    made = Core(sram, special, chip)
    for number, value in (values or {}).items():
        made.registers[number] = value
    return made


def run(words: Sequence[int], chip: Chip = V11, values: Mapping[int, int] | None = None) -> Core:
    """Return the processor after executing these words in sequence."""
    made = core(words, chip, values)
    for _ in words:
        made.step()
    return made


__all__ = ["NOP", "SRAM", "ZERO", "branch", "constant", "core", "load", "part", "ri", "rr", "run", "store"]
