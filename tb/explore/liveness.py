"""Which local variables of a frame are still read. One that is set again before anybody reads it makes no difference to
what happens next.

The answer comes from the byte code: a variable is live behind an instruction if some way from there reads it before it
is set. Every jump and every handler of exceptions counts as a way.
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
"""What is live before each instruction, by offset."""


Solution = tuple[Before, dict[int, list[int]]]
SOLVED: dict[CodeType, Solution] = {}
"""What was worked out so far. A code is another's equal if they are the same byte for byte."""


def live(code: CodeType, at: int) -> frozenset[str]:
    """The variables that are live behind the instruction at an offset; -1: before the first one."""
    solution = SOLVED.get(code)
    if solution is None:
        solution = SOLVED[code] = _solved(code)
    before, following = solution
    return frozenset().union(*(before[offset] for offset in (following[at] if at >= 0 else [0])))


def learn(codes: Iterable[bytes]) -> None:
    """Work out what another process had to, of codes as `marshal` writes them."""
    for code in map(marshal.loads, codes):
        if code not in SOLVED:
            SOLVED[code] = _solved(code)


def _solved(code: CodeType) -> Solution:
    """What is live before each instruction, and the instructions that may come next."""
    instructions = list(dis.get_instructions(code))
    handlers = getattr(dis.Bytecode(code), "exception_entries", None)
    following = _following(instructions, handlers or ())
    known = {one.opname for one in instructions if "FAST" in one.opname} <= READS | SETS
    if handlers is None or not known:  # another Python: every variable counts as live
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
