"""Decoder of host instructions (Pentium II and III) as clang prints them in AT&T syntax: destination last."""

from __future__ import annotations

import re

from pymodels.costs.assembly import Flow, Instruction

COMMENT = "#"

MEMORY = re.compile(r"^\*?[^%$]")
BRANCH = re.compile(r"j(?!mp)[a-z]+")
READ_ONLY = re.compile(r"(cmp|test|bt)[bwl]?|prefetch\w*|u?comis[sd]|push[wl]?|[id]?div[bwl]|i?mul[bwl]")
WRITE_ONLY = re.compile(r"mov[a-z]*|set[a-z]+|pop[wl]?")
REFUSED = {
    re.compile(r"i?div[bwl]"): "a division takes tens of clocks; use shifts and masks",
    re.compile(r"(rep.*|movs[bwl]|stos[bwl]|lods[bwl]|cmps[bwl]|scas[bwl])"): "a string instruction is many accesses; "
    "write one turn of the loop as a path and repeat it with times=",
}


def operands(text: str) -> list[str]:
    """Return the operands of an instruction, split at commas outside of parentheses."""
    return [part.strip() for part in re.split(r",(?![^()]*\))", text) if part.strip()]


def decode(text: str) -> Instruction:
    """Return the instruction of a line without its comment."""
    text = " ".join(text.split())
    name, _, rest = text.partition(" ")
    for pattern, reason in REFUSED.items():
        if pattern.fullmatch(name):
            return Instruction(text, refused=reason)
    if name.startswith("call"):
        return Instruction(text, flow=Flow.CALL, target=rest)
    if name.startswith("ret"):
        return Instruction(text, loads=1, flow=Flow.RETURN)
    if name.startswith("jmp"):
        return Instruction(
            text, flow=Flow.JUMP, target=rest, refused="an indirect jump" if rest.startswith("*") else ""
        )
    if BRANCH.fullmatch(name):
        return Instruction(text, flow=Flow.BRANCH, target=rest)
    loads, stores = accesses(name, operands(rest))
    return Instruction(text, loads=loads, stores=stores)


def accesses(name: str, args: list[str]) -> tuple[int, int]:
    """Return the loads and stores of an ordinary instruction, from its memory operands and from push and pop."""
    loads, stores = int(name.startswith("pop")), int(name.startswith("push"))
    if name.startswith(("lea", "nop", "prefetch")):
        return 0, 0
    in_memory = [bool(MEMORY.match(arg)) for arg in args]
    if any(in_memory[:-1]):
        loads += 1
    if args and in_memory[-1]:
        loads += int(not WRITE_ONLY.fullmatch(name))
        stores += int(not READ_ONLY.fullmatch(name))
    return loads, stores
