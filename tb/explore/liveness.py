"""Live-variable analysis of suspended frames: a variable that is assigned before its next read does not affect
behaviour.

The analysis uses the byte code: a variable is live after an instruction if a path from there reads it before it is
assigned. All jumps and exception handlers count as paths.
"""

from __future__ import annotations

import dis
import marshal
from collections.abc import Iterable
from types import CodeType
from typing import Any

ENDS = frozenset({"RETURN_VALUE", "RAISE_VARARGS", "RERAISE"})
JUMPS_ALWAYS = frozenset({"JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT"})
READS = frozenset({"LOAD_FAST", "DELETE_FAST"})
SETS = frozenset({"STORE_FAST"})
Before = dict[int, frozenset[str]]
"""Live variables before each instruction, by offset."""


Solution = tuple[Before, dict[int, list[int]]]
SOLVED: dict[CodeType, Solution] = {}
"""Cached results. Code objects compare equal if they are identical byte for byte."""


def live(code: CodeType, at: int) -> frozenset[str]:
    """Return the live variables after the instruction at an offset; -1: before the first instruction."""
    solution = SOLVED.get(code)
    if solution is None:
        solution = SOLVED[code] = _solved(code)
    before, following = solution
    return frozenset().union(*(before[offset] for offset in (following[at] if at >= 0 else [0])))


def learn(codes: Iterable[bytes]) -> None:
    """Analyse the code objects that another process has met, serialized by `marshal`."""
    for code in map(marshal.loads, codes):
        if code not in SOLVED:
            SOLVED[code] = _solved(code)


def _solved(code: CodeType) -> Solution:
    """Return the live variables before each instruction, and the possible successors of each."""
    instructions = list(dis.get_instructions(code))
    handlers = getattr(dis.Bytecode(code), "exception_entries", None)
    following = _following(instructions, handlers or ())
    known = {one.opname for one in instructions if "FAST" in one.opname} <= READS | SETS
    if handlers is None or not known:  # unsupported Python version: treat every variable as live
        return dict.fromkeys(following, frozenset(code.co_varnames)), following
    before: Before = dict.fromkeys(following, frozenset())
    changed = True
    while changed:
        changed = False
        for one in reversed(instructions):
            found = frozenset[str]().union(*(before[offset] for offset in following[one.offset]))
            if one.opname in SETS:
                found -= {one.argval}
            elif one.opname in READS:
                found |= {one.argval}
            if found != before[one.offset]:
                before[one.offset], changed = found, True
    return before, following


def _following(instructions: list[dis.Instruction], handlers: Iterable[Any]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for number, one in enumerate(instructions):
        ways = [entry.target for entry in handlers if entry.start <= one.offset < entry.end]
        if one.opcode in dis.hasjrel or one.opcode in dis.hasjabs:
            ways.append(one.argval)
        if one.opname not in ENDS | JUMPS_ALWAYS:
            ways.append(instructions[number + 1].offset)
        found[one.offset] = ways
    return found
