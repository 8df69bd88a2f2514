"""Specialised evaluation of single clock edges in a Verilated model with several clocks.

Verilator generates one function for the effects of all edges, `eval_nba`: a sequence of blocks, each guarded by a test
of its triggers. Most edges of a cluster belong to a single clock and its gated clocks, for which most tests fail. Here
the function becomes a template of the triggers that may be set and of those that are set. Each clock has an instance,
from which the compiler removes blocks that cannot run and tests that always succeed; one more instance serves all
triggers.

A clock needs its next edge when any of about thirty conditions holds. Verilator evaluates all of them in one
expression. Here the evaluation stops at the first true condition, which is found early while a message moves.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate, pairwise
from pathlib import Path

from tb.tools.programs import ToolError

NAMED = re.compile(r"trigger index (\d+) is active: @\(posedge (?:\w+\.)?(\w+)\)")
"""Pattern of the debug text in which a model names its triggers."""
SET = "vlSelfRef.__VnbaTriggered[0U]"
AWAKE = re.compile(r"(vlSelfRef\.wants_\d+\s*= \(\()(\(.*?\))(\s*<< 0x0000001fU\))", re.DOTALL)
"""Pattern of the assignment whose top bit says that a clock needs its next edge."""


def narrow(obj: Path, name: str, domains: Sequence[Sequence[str]]) -> None:
    """Rewrite a model's `eval_nba` into one instance for each clock.

    Args:
        obj: Folder of Verilator's output.
        name: Name of the model.
        domains: For each clock, the pins whose edges belong to it, its own pin first.

    Raises:
        ToolError: Verilator's output has an unexpected form.
    """
    told = "".join(path.read_text(encoding="utf-8") for path in obj.glob(f"{name}___024root__*Slow.cpp"))
    triggers = {pin: int(index) for index, pin in NAMED.findall(told)}
    masks = [[1 << triggers[pin] for pin in pins if pin in triggers] for pins in domains]
    head = f"void {name}___024root___eval_nba({name}___024root* vlSelf) {{\n"
    found = [path for path in obj.glob(f"{name}___024root__*.cpp") if head in path.read_text(encoding="utf-8")]
    if len(found) != 1 or any(pins[0] not in triggers for pins in domains):
        cause = f"{obj} has {len(found)} functions eval_nba, and the triggers {sorted(triggers)}"
        raise ToolError(
            f"unexpected output of Verilator for the model {name}", cause, "use the Verilator of requirements.txt"
        )
    path = found[0]
    before, _, rest = AWAKE.sub(_stopping, path.read_text(encoding="utf-8")).partition(head)
    body, end, after = rest.partition("\n}\n")
    path.write_text(before + _template(name, body + end) + _chooser(head, masks) + after, encoding="utf-8")


def _stopping(found: re.Match[str]) -> str:
    """Return the assignment to a word of `wants` with its conditions joined by `||`, shortest first."""
    if found[2].count("(") != found[2].count(")"):
        return found[0]
    conditions = sorted(_alternatives(found[2]), key=lambda text: len(text.split()))
    return f"{found[1]}(IData)({' || '.join(f'(1U & ({text}))' for text in conditions)}){found[3]}"


def _alternatives(text: str) -> list[str]:
    """Return the operands that an expression joins by `|`, or the expression itself."""
    text = text.strip()
    depths = list(accumulate((letter == "(") - (letter == ")") for letter in text))
    if text[0] == "(" and 0 not in depths[:-1]:
        return _alternatives(text[1:-1])
    places = [at for at, depth in enumerate(depths) if depth == 0 and text[at] == "|"]
    bounds = [-1, *places, len(text)]
    parts = [text[begin + 1 : end] for begin, end in pairwise(bounds)]
    return [one for part in parts for one in _alternatives(part)] if len(parts) > 1 and all(parts) else [text]


def _template(name: str, body: str) -> str:
    """Return `eval_nba` as a template of the triggers that may be set and of those that are set."""
    if body.count("__VnbaTriggered") != body.count(f"ULL & {SET}"):
        raise ToolError(
            f"unexpected output of Verilator for the model {name}",
            "its eval_nba sets triggers",
            "see tb/build/domains.py",
        )
    declared = f"template <uint64_t MAY, uint64_t MUST> static void eval_nba_of({name}___024root* vlSelf) {{\n"
    known = "    const uint64_t triggers = (vlSelf->__VnbaTriggered[0] & MAY) | MUST;\n"
    return declared + known + body.replace(SET, "triggers")


def _chooser(head: str, masks: Sequence[Sequence[int]]) -> str:
    """Return the `eval_nba` that calls the narrowest instance; `masks` has each clock's triggers, its own
    edge first.
    """
    tests = "".join(
        f"    if (triggers & {own[0]}ull && !(triggers & ~{sum(own)}ull))\n"
        f"        return eval_nba_of<{sum(own)}ull, {own[0]}ull>(vlSelf);\n"
        for own in masks
    )
    begun = f"{head}    const uint64_t triggers = vlSelf->__VnbaTriggered[0];\n"
    return f"{begun}{tests}    eval_nba_of<~0ull, 0>(vlSelf);\n}}\n"
