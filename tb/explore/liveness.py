"""Live-variable analysis of suspended frames: a variable that is assigned before its next read does not affect
behaviour.

The analysis uses the byte code: a variable is live after an instruction if a path from there reads it before it is
assigned. All jumps and exception handlers count as paths. Python 3.10 has no table of handlers: there a handler counts
as reachable from each instruction that follows its installation.
"""

from __future__ import annotations

import dis
import marshal
import re
from collections.abc import Iterable
from types import CodeType
from typing import Any

ENDS = frozenset({"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE"})
JUMPS_ALWAYS = frozenset({"JUMP_FORWARD", "JUMP_ABSOLUTE", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT"})
INSTALLS = frozenset({"SETUP_FINALLY", "SETUP_WITH", "SETUP_ASYNC_WITH"})
"""Instructions of Python 3.10 that install an exception handler, whose offset is their argument."""
ACCESS = re.compile(r"(LOAD|STORE|DELETE)_FAST(?:_CHECK|_AND_CLEAR|_BORROW)?(?=_|$)_?")
"""Part of an instruction's name that reads or sets one variable. From Python 3.13 an instruction may have two parts."""
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
    following = _following(instructions, _handlers(code, instructions))
    accesses = {one.offset: _accesses(one) for one in instructions}
    if (
        None in accesses.values()
    ):  # an instruction of a Python version that is unknown here: treat all variables as live
        return dict.fromkeys(following, frozenset(code.co_varnames)), following
    before: Before = dict.fromkeys(following, frozenset())
    changed = True
    while changed:
        changed = False
        for one in reversed(instructions):
            found = frozenset[str]().union(*(before[offset] for offset in following[one.offset]))
            for read, name in reversed(accesses[one.offset] or ()):
                found = found | {name} if read else found - {name}
            if found != before[one.offset]:
                before[one.offset], changed = found, True
    return before, following


def _accesses(one: dis.Instruction) -> list[tuple[bool, str]] | None:
    """Return the variables that an instruction reads (True) or sets (False), in order; None for an unknown one."""
    if "FAST" not in one.opname:
        return []
    parts = [match[1] != "STORE" for match in ACCESS.finditer(one.opname)]
    names = [one.argval] if isinstance(one.argval, str) else list(one.argval)
    known = ACCESS.sub("", one.opname) == "" and len(parts) == len(names)
    return list(zip(parts, names, strict=True)) if known else None


def _handlers(code: CodeType, instructions: list[dis.Instruction]) -> list[tuple[int, int, int]]:
    """Return the exception handlers of a function: first offset, offset after the last, offset of the handler."""
    entries: Iterable[Any] | None = getattr(dis.Bytecode(code), "exception_entries", None)
    if entries is not None:
        return [(entry.start, entry.end, entry.target) for entry in entries]
    return [(one.offset, one.argval, one.argval) for one in instructions if one.opname in INSTALLS]


def _following(instructions: list[dis.Instruction], handlers: list[tuple[int, int, int]]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for number, one in enumerate(instructions):
        ways = [target for start, end, target in handlers if start <= one.offset < end]
        if one.opname not in INSTALLS and (one.opcode in dis.hasjrel or one.opcode in dis.hasjabs):
            ways.append(one.argval)
        if one.opname not in ENDS | JUMPS_ALWAYS:
            ways.append(instructions[number + 1].offset)
        found[one.offset] = ways
    return found
