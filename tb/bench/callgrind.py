"""Reader of Callgrind's output: instructions by the part of the laboratory that executed them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

NAME = re.compile(r"(c?)(ob|fn)=\((\d+)\)(?: (.*))?")
"""Pattern of an object (program or library) or a function in Callgrind's output. Its name is given once, perhaps at a
call (`c`), and later only its number.
"""
MODEL = re.compile(r"\bV(node|switch)\w*___024root")
"""Pattern in the function names of a Verilated model."""
NODE, SWITCH, LOOP, PYTHON = "nodes", "switches", "main loop and doorway", "Python"
PARTS = (NODE, SWITCH, LOOP, PYTHON)


def by_part(lines: Iterable[str]) -> dict[str, int]:
    """Return the instructions of each of PARTS, from the lines of a Callgrind file."""
    counts: Counter[str] = Counter()
    for (part, _), instructions in by_function(lines).items():
        counts[part] += instructions
    return {part: counts[part] for part in PARTS}


def by_function(lines: Iterable[str]) -> Counter[tuple[str, str]]:
    """Return the exclusive instructions of each function by (part, name), from the lines of a Callgrind file."""
    names: dict[tuple[str, str], str] = {}
    now = {"ob": "", "fn": ""}
    counts: Counter[tuple[str, str]] = Counter()
    called = False
    for line in lines:
        if found := NAME.match(line):
            calls, kind, number, name = found.groups()
            known = names.setdefault((kind, number), name or "")
            now[kind] = now[kind] if calls else known
        elif line.startswith("calls="):
            called = True
        elif line[:1].isdigit() or line[:1] in {"+", "-", "*"}:
            if not called:  # the line after calls= has the instructions of the called function
                counts[_part(now["ob"], now["fn"]), now["fn"]] += int(line.split()[1])
            called = False
    return counts


def _part(program: str, function: str) -> str:
    """Return the part of the laboratory that a function belongs to."""
    if model := MODEL.search(function):
        return NODE if model[1] == "node" else SWITCH
    return LOOP if program.endswith(("/Vtop", "/libdoorway.so")) else PYTHON
