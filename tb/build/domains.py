"""Edges of one clock alone, in a Verilated model with several.

Verilator makes one function of all that follows an edge, `eval_nba`: a long row of blocks, each behind a test whether
one of its triggers is set. Most edges of a cluster are those of a single clock and its gated ones, for which most of
these tests can only fail, and those of the clock itself only succeed. Here the function becomes a template of the
triggers that may and that must be set, with an instance for each clock, in which the compiler leaves out what cannot
happen and does not ask for what always does, and one for all.

A clock needs its next edge when any of some thirty conditions holds. Verilator makes one expression of all of them.
Here it stops at the first that does: while a message moves one of them mostly does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate, pairwise
from pathlib import Path

from tb.tools.programs import ToolError

NAMED = re.compile(r"trigger index (\d+) is active: @\(posedge (?:\w+\.)?(\w+)\)")
"""How a model tells, for those who debug it, which of its triggers is which."""
SET = "vlSelfRef.__VnbaTriggered[0U]"
AWAKE = re.compile(r"(vlSelfRef\.wants_\d+\s*= \(\()(\(.*?\))(\s*<< 0x0000001fU\))", re.DOTALL)
"""Where a model says in the top bit of a word that a clock needs its next edge."""


def narrow(obj: Path, name: str, domains: Sequence[Sequence[str]]) -> None:
    """Give a model in `obj` its instances; `domains`: of each clock the pins whose edges are its own, its pin first.

    Raises ToolError where Verilator's output is not what it was when this was written.
    """
    told = "".join(path.read_text(encoding="utf-8") for path in obj.glob(f"{name}___024root__*Slow.cpp"))
    triggers = {pin: int(index) for index, pin in NAMED.findall(told)}
    masks = [[1 << triggers[pin] for pin in pins if pin in triggers] for pins in domains]
    head = f"void {name}___024root___eval_nba({name}___024root* vlSelf) {{\n"
    found = [path for path in obj.glob(f"{name}___024root__*.cpp") if head in path.read_text(encoding="utf-8")]
    if len(found) != 1 or any(pins[0] not in triggers for pins in domains):
        cause = f"{obj} has {len(found)} functions eval_nba and the triggers {sorted(triggers)}"
        raise ToolError(f"the model {name} is not as expected", cause, "use the Verilator of requirements.txt")
    path = found[0]
    before, _, rest = AWAKE.sub(_stopping, path.read_text(encoding="utf-8")).partition(head)
    body, end, after = rest.partition("\n}\n")
    path.write_text(before + _template(name, body + end) + _chooser(head, masks) + after, encoding="utf-8")


def _stopping(found: re.Match[str]) -> str:
    """The assignment to a word of `wants` with its conditions one after another, those of least text first."""
    if found[2].count("(") != found[2].count(")"):
        return found[0]
    conditions = sorted(_alternatives(found[2]), key=lambda text: len(text.split()))
    return f"{found[1]}(IData)({' || '.join(f'(1U & ({text}))' for text in conditions)}){found[3]}"


def _alternatives(text: str) -> list[str]:
    """What an expression joins by `|`, through the brackets around it; itself where it joins nothing."""
    text = text.strip()
    depths = list(accumulate((letter == "(") - (letter == ")") for letter in text))
    if text[0] == "(" and 0 not in depths[:-1]:
        return _alternatives(text[1:-1])
    places = [at for at, depth in enumerate(depths) if depth == 0 and text[at] == "|"]
    bounds = [-1, *places, len(text)]
    parts = [text[begin + 1 : end] for begin, end in pairwise(bounds)]
    return [one for part in parts for one in _alternatives(part)] if len(parts) > 1 and all(parts) else [text]


def _template(name: str, body: str) -> str:
    """`eval_nba`, body and closing brace, as a template of the triggers that may be set, and of those that are."""
    if body.count("__VnbaTriggered") != body.count(f"ULL & {SET}"):
        raise ToolError(f"the model {name} is not as expected", "its eval_nba sets triggers", "see tb/build/domains.py")
    declared = f"template <uint64_t MAY, uint64_t MUST> static void eval_nba_of({name}___024root* vlSelf) {{\n"
    known = "    const uint64_t triggers = (vlSelf->__VnbaTriggered[0] & MAY) | MUST;\n"
    return declared + known + body.replace(SET, "triggers")


def _chooser(head: str, masks: Sequence[Sequence[int]]) -> str:
    """`eval_nba`, which takes the narrowest instance; `masks`: of each clock its triggers, its own edge first."""
    tests = "".join(
        f"    if (triggers & {own[0]}ull && !(triggers & ~{sum(own)}ull))\n"
        f"        return eval_nba_of<{sum(own)}ull, {own[0]}ull>(vlSelf);\n"
        for own in masks
    )
    begun = f"{head}    const uint64_t triggers = vlSelf->__VnbaTriggered[0];\n"
    return f"{begun}{tests}    eval_nba_of<~0ull, 0>(vlSelf);\n}}\n"
