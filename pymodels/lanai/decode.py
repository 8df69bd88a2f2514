"""Decoder of instruction words into operation, registers and constants, independent of the format."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from pymodels.lanai.isa import ONES, WORD, ZERO, Condition, Count, Op, Special, format_of


class Kind(Enum):
    """Operation of an instruction."""

    ALU = "calculates"
    SELECT = "selects"
    COUNT = "counts bits"
    CONSTANT = "loads a constant"
    SET = "stores a condition"
    BRANCH = "branches"
    RELATIVE = "branches relative to a register"
    LOAD = "loads"
    STORE = "stores"


@dataclass(frozen=True)
class Instruction:
    """Decoded instruction word. The meaningful fields depend on its kind."""

    word: int
    format: str
    kind: Kind
    rd: int = ZERO
    rs1: int = ZERO
    rs2: int | None = None
    """Register of the second operand; None if the operand is the constant."""
    constant: int = 0
    """Constant as a 32-bit word, after extension and shift; for a branch the target address."""
    op: Op = Op.ADD
    count: Count = Count.POPC
    arithmetic: bool = False
    sets_flags: bool = False
    condition: Condition = Condition.T
    before: bool = True
    """True if a load or store uses the address after the modification of `rs1`."""
    back: bool = False
    """True if the modified address is written back to `rs1`."""
    size: int = 4
    zero_extends: bool = False

    @cached_property
    def reads(self) -> frozenset[int]:
        """Registers that the instruction reads."""
        found = {self.rs1, self.rs2 if self.rs2 is not None else ZERO, self.rd if self.kind is Kind.STORE else ZERO}
        return frozenset(found - {ZERO, ONES})

    @cached_property
    def writes(self) -> frozenset[int]:
        """Registers that the instruction may change."""
        result = ZERO if self.kind in (Kind.STORE, Kind.BRANCH, Kind.RELATIVE) else self.rd
        return frozenset({result, self.rs1 if self.back else ZERO} - {ZERO, ONES})

    @cached_property
    def uses(self) -> tuple[int, ...]:
        """Registers that must not have a pending load when the instruction executes."""
        return tuple(sorted(self.reads | self.writes))


Fields = Mapping[str, int]


def _condition(fields: Fields) -> Condition:
    return Condition(fields["d"] << 1 | fields["i"])


def _ri(word: int, f: Fields) -> Instruction | None:
    op, k = Op(f["op"]), f["k"]
    if op is Op.SHIFT:
        k |= 0xFFFF0000 if k >> 15 else 0
    else:
        k = k << 16 if f["h"] else k
        if op is Op.AND:
            k |= 0xFFFF if f["h"] else 0xFFFF0000
    arithmetic = op is Op.SHIFT and bool(f["h"])
    return Instruction(
        word, "RI", Kind.ALU, f["rd"], f["rs1"], None, k, op, arithmetic=arithmetic, sets_flags=bool(f["f"])
    )


def _special_of(f: Fields) -> Special | None:
    """Return the shift or select of an operation, or None if it is reserved. The three lowest bits of a shift are
    ignored.
    """
    if not f["j"] & 0b10000:
        return None if f["j"] else Special.SELECT
    return Special(f["j"] & 0b11000)


def _rr(word: int, f: Fields) -> Instruction | None:
    op, special, condition = Op(f["op"]), _special_of(f), _condition(f)
    if op is Op.SHIFT and special is None:
        return None
    select = op is Op.SHIFT and special is Special.SELECT
    return Instruction(
        word, "RR", Kind.SELECT if select else Kind.ALU, f["rd"], f["rs1"], f["rs2"], 0, op,
        arithmetic=op is Op.SHIFT and special is Special.ARITHMETIC,
        sets_flags=bool(f["f"]) and not select, condition=condition,
    )  # fmt: skip


def _memory(word: int, name: str, f: Fields, size: int) -> Instruction:
    return Instruction(
        word, name, Kind.STORE if f["s"] else Kind.LOAD, f["rd"], f["rs1"], None, f["k"] & WORD,
        before=bool(f["p"]), back=bool(f["q"]), size=size, zero_extends=bool(f.get("e", 0)),
    )  # fmt: skip


def _rm(word: int, f: Fields) -> Instruction | None:
    return _memory(word, "RM", f, 4)


def _spls(word: int, f: Fields) -> Instruction | None:
    return _memory(word, "SPLS", f, 1 if f["y"] else 2)


def _rrm(word: int, f: Fields) -> Instruction | None:
    op, special = Op(f["op"]), _special_of(f)
    if op is Op.SHIFT and special in (None, Special.SELECT):
        return None
    if f["y"] and f["l"]:
        return None
    size = 4 if f["l"] or op is Op.SHIFT else 1 if f["y"] else 2
    return Instruction(
        word, "RRM", Kind.STORE if f["s"] else Kind.LOAD, f["rd"], f["rs1"], f["rs2"], 0, op,
        arithmetic=op is Op.SHIFT and special is Special.ARITHMETIC,
        before=bool(f["p"]), back=bool(f["q"]), size=size, zero_extends=bool(f["e"]),
    )  # fmt: skip


def _special(word: int, f: Fields) -> Instruction | None:
    if f["op"] not in Count.__members__.values() or f["f"]:
        return None
    return Instruction(word, "SPECIAL", Kind.COUNT, f["rd"], f["rs1"], count=Count(f["op"]))


def _br(word: int, f: Fields) -> Instruction | None:
    return Instruction(word, "BR", Kind.BRANCH, constant=4 * f["target"], condition=_condition(f))


def _brr(word: int, f: Fields) -> Instruction | None:
    return Instruction(word, "BRR", Kind.RELATIVE, rs1=f["rs1"], constant=4 * f["k"] & WORD, condition=_condition(f))


def _scc(word: int, f: Fields) -> Instruction | None:
    return Instruction(word, "SCC", Kind.SET, f["rd"], condition=_condition(f))


def _sls(word: int, f: Fields) -> Instruction | None:
    kind = Kind.STORE if f["s"] else Kind.LOAD
    return Instruction(word, "SLS", kind, f["rd"], constant=f["top"] << 16 | f["k"] & ~3)


def _sli(word: int, f: Fields) -> Instruction | None:
    return Instruction(word, "SLI", Kind.CONSTANT, f["rd"], constant=f["top"] << 16 | f["k"])


DECODERS: Mapping[str, Callable[[int, Fields], Instruction | None]] = {
    "RI": _ri,
    "RM": _rm,
    "RRM": _rrm,
    "RR": _rr,
    "SPECIAL": _special,
    "BR": _br,
    "BRR": _brr,
    "SCC": _scc,
    "SLS": _sls,
    "SLI": _sli,
    "SPLS": _spls,
}


def decode(word: int) -> Instruction | None:
    """Return the decoded instruction, or None for an illegal word.

    Reserved combinations of fields are illegal: operation 7 with an invalid J field, an RRM access that is both byte
    and word, and a count with flags or an undefined operation.
    """
    form = format_of(word)
    return None if form is None else DECODERS[form.name](word, form.get(word))
