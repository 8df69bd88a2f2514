"""What Callgrind counted: instructions by the part of the laboratory that executed them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

NAME = re.compile(r"(c?)(ob|fn)=\((\d+)\)(?: (.*))?")
"""A file of Callgrind names an object (program or library) or a function once, maybe where it is called (`c`), and
then by its number."""
MODEL = re.compile(r"\bV(node|switch)\w*___024root")
"""In the name of a function of a Verilated model."""
NODE, SWITCH, LOOP, PYTHON = "nodes", "switches", "main loop and doorway", "Python"
PARTS = (NODE, SWITCH, LOOP, PYTHON)


def by_part(lines: Iterable[str]) -> dict[str, int]:
    """Instructions of each of PARTS, from the lines of a file that Callgrind wrote."""
    counts: Counter[str] = Counter()
    for (part, _), instructions in by_function(lines).items():
        counts[part] += instructions
    return {part: counts[part] for part in PARTS}


def by_function(lines: Iterable[str]) -> Counter[tuple[str, str]]:
    """Instructions of each function, those that it calls apart, by its part and name; lines as for `by_part`."""
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
            if not called:  # the line behind calls= has what the called functions executed
                counts[_part(now["ob"], now["fn"]), now["fn"]] += int(line.split()[1])
            called = False
    return counts


def _part(program: str, function: str) -> str:
    """Whose a function is."""
    if model := MODEL.search(function):
        return NODE if model[1] == "node" else SWITCH
    return LOOP if program.endswith(("/Vtop", "/libdoorway.so")) else PYTHON
