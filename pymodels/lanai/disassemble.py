"""Disassembler with the syntax of clang's assembler: destination last, addresses in brackets.

`4[%r6]` adds 4 to the address, `4[*%r6]` also writes it back, `4[%r6*]` adds after the access; `[++%r6]` and `[%r6--]`
change it by the size of the access.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from pymodels.lanai.decode import Instruction, Kind, decode
from pymodels.lanai.isa import NOP, ONES, PC, ZERO, Condition, Op, names, signed
from pymodels.lanai.program import Program

_NAMES = names()
_OPS = {op: "sh" if op is Op.SHIFT else op.name.lower() for op in Op}
_CALLED = {Condition.HI: "ugt", Condition.LS: "ule", Condition.CC: "ult", Condition.CS: "uge"}
"""Names of conditions that clang prints as unsigned comparisons."""
_SIZES = {4: "", 2: ".h", 1: ".b"}


def _condition(one: Instruction) -> str:
    return _CALLED.get(one.condition, one.condition.name.lower())


def _if(one: Instruction) -> str:
    return f".{_condition(one)}" if one.condition else ""


def _second(one: Instruction) -> str:
    if one.rs2 is not None:
        return _NAMES[one.rs2]
    return f"{signed(one.constant) if one.op is Op.SHIFT else one.constant:#x}"


def _alias(one: Instruction) -> str:
    """Return the assembler's shorter form: a move of a constant or register, or a jump to a register; empty if none."""
    if one.sets_flags:
        return ""
    if one.rs2 is None:
        return _constant(one) if (one.op, one.rs1) in ((Op.ADD, ZERO), (Op.AND, ONES)) else ""
    if (one.op, one.rs2) == (Op.ADD, ZERO) and not one.condition:
        return f"mov {_NAMES[one.rs1]}, {_NAMES[one.rd]}"
    jumps = (one.op, one.rd, one.rs1) == (Op.OR, PC, ZERO)
    return f"b{_condition(one)} {_NAMES[one.rs2]}" if jumps else ""


def _alu(one: Instruction) -> str:
    if alias := _alias(one):
        return alias
    name = "sha" if one.arithmetic else _OPS[one.op]
    return f"{name}{'.f' * one.sets_flags}{_if(one)} {_NAMES[one.rs1]}, {_second(one)}, {_NAMES[one.rd]}"


def _select(one: Instruction) -> str:
    return f"sel.{_condition(one)} {_NAMES[one.rs1]}, {_second(one)}, {_NAMES[one.rd]}"


def _count(one: Instruction) -> str:
    return f"{one.count.name.lower()} {_NAMES[one.rs1]}, {_NAMES[one.rd]}"


def _constant(one: Instruction) -> str:
    return f"mov {one.constant:#x}, {_NAMES[one.rd]}"


def _set(one: Instruction) -> str:
    return f"s{_condition(one)} {_NAMES[one.rd]}"


def _branch(one: Instruction) -> str:
    return f"b{_condition(one)} {one.constant:#x}"


def _relative(one: Instruction) -> str:
    base = f"{_NAMES[one.rs1]} " if one.rs1 else ""
    return f"b{_condition(one)}.r {base}{signed(one.constant):#x}"


def _place(one: Instruction) -> str:
    """Return the address operand of an access."""
    base = _NAMES[one.rs1]
    if one.format == "SLS":
        return f"[{one.constant:#x}]"
    moved = base if not one.back else f"*{base}" if one.before else f"{base}*"
    used = one.before or one.back
    if one.rs2 is not None:
        return f"[{moved} {'sha' if one.arithmetic else _OPS[one.op]} {_NAMES[one.rs2 if used else ZERO]}]"
    by = signed(one.constant) if used else 0
    if one.back and abs(by) == one.size:
        sign = "++" if by > 0 else "--"
        return f"[{sign}{base}]" if one.before else f"[{base}{sign}]"
    return f"{by}[{moved}]"


def _load(one: Instruction) -> str:
    return f"{'u' * (one.zero_extends and one.size < 4)}ld{_SIZES[one.size]} {_place(one)}, {_NAMES[one.rd]}"


def _store(one: Instruction) -> str:
    return f"st{_SIZES[one.size]} {_NAMES[one.rd]}, {_place(one)}"


_TEXTS: Mapping[Kind, Callable[[Instruction], str]] = {
    Kind.ALU: _alu,
    Kind.SELECT: _select,
    Kind.COUNT: _count,
    Kind.CONSTANT: _constant,
    Kind.SET: _set,
    Kind.BRANCH: _branch,
    Kind.RELATIVE: _relative,
    Kind.LOAD: _load,
    Kind.STORE: _store,
}


def disassembled(word: int) -> str:
    """Return the text of an instruction word; an illegal word becomes `.word`."""
    one = decode(word)
    if one is None:
        return f".word {word:#010x}"
    return "nop" if word == NOP else _TEXTS[one.kind](one)


def listing(program: Program) -> Iterator[str]:
    """Yield the disassembly of a program by function: address, word, text, and the source line where it changes."""
    for function in program.functions:
        yield f"{function.address:08x} <{function.name}>:"
        before = None
        for address in range(function.address, function.address + function.size, 4):
            at = address - program.base
            word, line = int.from_bytes(program.data[at : at + 4], "big"), program.line(address)
            source = f"  ! {line.file}:{line.line}" if line is not None and line != before else ""
            before = line
            yield f"  {address:06x}: {word:08x}  {disassembled(word)}{source}"
