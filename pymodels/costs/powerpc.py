"""Decoder of PowerPC instructions as clang prints them: destination first, no delay slots, conditional returns.

On a NIC the frame of a C function (stack pointer, saved registers, `blr`) is not counted, as on the LANai: the firmware
is one loop whose steps are inlined. On a host everything counts, since library functions are called.
"""

from __future__ import annotations

import re
from dataclasses import replace

from pymodels.costs.assembly import RETURN, Flow, Instruction

COMMENT = "#"

LOAD = re.compile(r"l(wz|hz|ha|bz)(u|x|ux)?|lwbrx|lhbrx|lf[sd](u|x|ux)?")
STORE = re.compile(r"st(w|h|b)(u|x|ux)?|stwbrx|sthbrx|stf[sd](u|x|ux)?")
CONDITION = r"(dnz|dz|lt|gt|eq|ge|le|ne|so|ns|un|nu)"
BRANCH = re.compile(rf"b{CONDITION}[-+]?")
CONDITIONAL_RETURN = re.compile(rf"b{CONDITION}lr[-+]?")
FRAME = (
    re.compile(r"stwu 1, -\d+\(1\)"),
    re.compile(r"addi 1, 1, \d+"),
    re.compile(r"(stw|lwz) (1[3-9]|2\d|3[01]), -?\d+\(1\)"),
    re.compile(r"blr"),
)
REFUSED = {
    re.compile(r"div\w+"): "a division takes tens of clocks; use shifts and masks",
    re.compile(r"(lmw|stmw|lsw[ix]|stsw[ix])"): "a multiple access is many; write one turn of the loop as a path",
    re.compile(r"b(c?ctr|clr)l?"): "an indirect jump has no single likely target",
}


def decode(text: str) -> Instruction:
    """Return the instruction of a line without its comment."""
    text = " ".join(text.split())
    name, _, operands = text.partition(" ")
    frame = any(pattern.fullmatch(text) for pattern in FRAME)
    for pattern, reason in REFUSED.items():
        if pattern.fullmatch(name):
            return Instruction(text, refused=reason)
    if name == "blr":
        return Instruction(text, flow=Flow.RETURN, frame=frame)
    if name == "b":
        return Instruction(text, flow=Flow.JUMP, target=operands)
    if name in ("bl", "bla"):
        return Instruction(text, flow=Flow.CALL, target=operands)
    if CONDITIONAL_RETURN.fullmatch(name):
        return Instruction(text, flow=Flow.BRANCH, target=RETURN)
    if BRANCH.fullmatch(name):
        return Instruction(text, flow=Flow.BRANCH, target=operands.split(",")[-1].strip())
    loads, stores = int(bool(LOAD.fullmatch(name))), int(bool(STORE.fullmatch(name)))
    return Instruction(text, loads=loads, stores=stores, frame=frame)


def decode_called(text: str) -> Instruction:
    """Return the instruction of a line in a called function, whose entry and return count."""
    return replace(decode(text), frame=False)
