"""Decoder of LANai instructions as clang prints them: destination last, one delay slot for branches, two for
returns.
"""

from __future__ import annotations

import re

from pymodels.costs.assembly import Flow, Instruction

COMMENT = "!"
DELAYS = (1, 2, 3, 4)
"""Load delays in clocks for which stalls are counted; the LANai 4 has one, the LANai 9 two."""

LOAD = re.compile(r"(ld|uld)(\.[bh])?")
STORE = re.compile(r"st(\.[bh])?")
BRANCH = re.compile(r"b(t|f|hi|ugt|ls|ule|cc|ult|cs|uge|ne|eq|vc|vs|pl|mi|ge|lt|gt|le)(\.r)?")
REGISTER = re.compile(r"%(\w+)")
CONSTANTS = {"r0", "r1", "pc"}
"""Registers that no load fills."""
FRAME = (
    re.compile(r"st %fp, \[--%sp\]"),
    re.compile(r"add %sp, 0x8, %fp"),
    re.compile(r"sub %sp, 0x[0-9a-f]+, %sp"),
    re.compile(r"ld -4\[%fp\], %pc"),
    re.compile(r"add %fp, 0x0, %sp"),
    re.compile(r"ld -8\[%fp\], %fp"),
)


def decode(text: str) -> Instruction:
    """Return the instruction of a line without its comment."""
    text = " ".join(text.split())
    name, _, operands = text.partition(" ")
    frame = any(pattern.fullmatch(text) for pattern in FRAME)
    registers = REGISTER.findall(operands)
    uses = frozenset(registers) - CONSTANTS
    if LOAD.fullmatch(name):
        if operands.endswith("%pc"):
            return Instruction(text, loads=1, flow=Flow.RETURN, delay_slots=2, frame=frame, uses=uses)
        return Instruction(text, loads=1, frame=frame, uses=uses, brings=registers[-1])
    if STORE.fullmatch(name):
        if operands.startswith("%rca"):
            return Instruction(text, flow=Flow.CALL, target="a function")
        return Instruction(text, stores=1, frame=frame, uses=uses)
    if BRANCH.fullmatch(name):
        return _branch(text, name, operands)
    return Instruction(text, frame=frame, uses=uses)


def _branch(text: str, name: str, target: str) -> Instruction:
    """Return a branch: conditional, unconditional (`bt`), or to an address in a register."""
    if target.startswith("%"):
        return Instruction(text, flow=Flow.JUMP, delay_slots=1, refused="an indirect jump has no single likely target")
    flow = Flow.JUMP if name == "bt" else Flow.BRANCH
    return Instruction(text, flow=flow, target=target, delay_slots=1)
