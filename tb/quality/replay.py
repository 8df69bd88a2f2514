"""Cocotb test of a counterexample, which drives the block through the solver's states.

`<block>.sv` is the block with its properties in simulator form: a failed property prints its line and ends the run;
assumptions and cover statements are removed. `test_<block>.py` writes the state of the first step, then the inputs of
each step, and toggles the clocks. Verilator only, since Icarus lacks `$past`. Memories keep their initial content.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from pprint import pformat
from types import MappingProxyType

from tb.build.build import Design, build
from tb.run.simulate import Outcome, simulate
from tb.tools.paths import OUT, ROOT
from tb.tools.plain import plain

FOLDER = OUT / "prove"
"""Folder of the counterexamples."""
FAILS = "the property of line {} does not hold"
STATEMENT = re.compile(r"\b(assert|assume|cover) \(")
FREE = re.compile(r"\(\* any(?:const|seq) \*\) logic(?: \[[^\]]*\])? ([\w, ]+);")
PORT = re.compile(r"^\s*input\b[^,/]*?(\w+)\s*(?:,|/|$)", re.MULTILINE)
CLOCK = re.compile(r"\bposedge (\w+)")
VARIABLE = re.compile(r"\$var (?:wire|reg) \d+ (\S+) (\S+) \$end")
TEST = '''"""Counterexample of {block}: the property of line {line} of {block}.sv does not hold.

Written by `sanlab prove`; `sanlab prove --replay {block}` runs it on Verilator.
"""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import Timer

CLOCKS = {clocks}
FREE = {free}  # the clocks run as they like: they are inputs
FROM_RESET = {from_reset}  # else the first step is any state, and what it was before is not known
START = {start}
STEPS = {steps}


@cocotb.test()
async def the_properties_hold(dut: Any) -> None:
    dut.replay_on.value, dut.replay_first.value = int(FROM_RESET), 1
    await tick(dut, dict.fromkeys(CLOCKS, 0))
    for path, value in START.items():
        if (handle := found(dut, path)) is not None:
            handle.value = value
    for step in STEPS:
        if FREE:
            await tick(dut, {{name: step[name] for name in CLOCKS}})
        await tick(dut, {{name: value for name, value in step.items() if name not in CLOCKS}})
        if not FREE:
            await tick(dut, {{name: (1 << len(dut[name])) - 1 for name in CLOCKS}})
            await tick(dut, dict.fromkeys(CLOCKS, 0))
        dut.replay_on.value, dut.replay_first.value = 1, 0


async def tick(dut: Any, values: dict[str, int]) -> None:
    for name, value in values.items():
        dut[name].value = value
    await Timer(5, "ns")


def found(dut: Any, path: str) -> Any:
    """A signal of the block, or of a block in it; None where the simulator has none of that name."""
    try:
        for name in path.split("."):
            dut = dut[name]
    except (KeyError, AttributeError):
        return None
    return dut
'''


def leave(block: str, text: str, wave: Path, found: str, free: bool, from_reset: bool) -> Path:
    """Write the test of a counterexample and return its path.

    Args:
        block: Name of the block.
        text: Source of the block with its properties.
        wave: Waveform of the counterexample.
        found: Message of the solver.
        free: True if the clocks are inputs.
        from_reset: True if the first step is after reset.
    """
    line = int(re.search(r"\.sv:(\d+)\.", found)[1])  # type: ignore[index]
    (FOLDER / f"{block}.sv").write_text(executable(text), encoding="utf-8")
    body = text.index(");", text.index("module "))
    clocks = tuple(sorted(set(CLOCK.findall(text)) & set(PORT.findall(text[:body]))))
    names = {*PORT.findall(text[:body]), *(name for some in FREE.findall(text) for name in some.split(", "))}
    seen = list(values(wave))
    steps = [{name: one[name] for name in sorted(names & one.keys()) if free or name not in clocks} for one in seen]
    start = {name: value for name, value in seen[0].items() if name not in names and "<" not in name}
    values_of = {"clocks": clocks, "free": free, "from_reset": from_reset, "start": start, "steps": steps}
    shown = {name: pformat(value, width=116, compact=True) for name, value in values_of.items()}
    test = FOLDER / f"test_{block}.py"
    test.write_text(TEST.format(block=block, line=line, **shown), encoding="utf-8")
    return test


def executable(text: str) -> str:
    """Return a block with properties in simulator form, with unchanged line numbers."""
    made, at = "", 0
    while match := STATEMENT.search(text, at):
        end = _closed(text, match.end())
        line = text.count("\n", 0, match.start()) + 1
        says = f'$display("{FAILS.format(line)}"); $finish;'
        checks = f"begin if (replay_on && !({text[match.end() : end]})) begin {says} end end"
        breaks = "\n" * text.count("\n", match.start(), end)
        made += text[at : match.start()] + (checks if match[1] == "assert" else breaks)
        at = text.index(";", end) + 1
        made += "" if match[1] == "assert" else ";"
    made = re.sub(r"\binitial\s*;", "", made + text[at:]).replace("$initstate", "replay_first")
    made = FREE.sub(lambda found: found[0].replace(found[1], found[1].replace(",", " = '0,") + " = '0"), made)
    body = made.index(");", made.index("module ")) + 2
    return f"{made[:body]} logic replay_on = 1'b0, replay_first = 1'b1; {made[body:]}"


def _closed(text: str, at: int) -> int:
    """Return the position of the bracket that closes the one open before `at`."""
    depth = 1
    while depth:
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return at - 1


def values(wave: Path) -> Iterator[dict[str, int]]:
    """Yield the values of all signals for each step, by name or `block.name`; changes after the last step are
    ignored.
    """
    names, now, scope, step = dict[str, list[str]](), dict[str, int](), list[str](), 0
    for line in wave.read_text(encoding="utf-8").splitlines():
        words = line.split()
        if line.startswith("$scope"):
            scope.append(words[2])
        elif line.startswith("$upscope"):
            scope.pop()
        elif match := VARIABLE.match(line):
            names.setdefault(match[1], []).append(".".join([*scope[1:], match[2]]))
        elif line.startswith("#") and int(line[1:]) == 10 * step + 5:
            yield dict(now)
            step += 1
        elif line.startswith("b"):
            now.update(dict.fromkeys(names.get(words[1], []), int(words[0][1:].replace("x", "0"), 2)))


def replay(
    block: str, parameters: Mapping[str, int], texts: Mapping[str, str] = MappingProxyType({})
) -> tuple[Outcome, str]:
    """Run the test of a block's counterexample; return its outcome and the message of the failed property.

    Args:
        block: Name of the block.
        parameters: Parameters of the block.
        texts: Sources of modules that replace those of the tree.

    Raises:
        ToolError: The block does not build.
    """
    generated = {f"{name}.sv": text for name, text in texts.items()}
    generated[f"{block}.sv"] = (FOLDER / f"{block}.sv").read_text(encoding="utf-8")
    made = build(Design(block, parameters, generated), "verilator")
    path = os.pathsep.join([str(plain(FOLDER)), str(plain(ROOT))])
    outcome = simulate(made, f"test_{block}", FOLDER / block, env={"PYTHONPATH": path}, timeout_s=120)
    said = re.search(FAILS.format(r"\d+"), outcome.log.read_text(encoding="utf-8"))
    return outcome, said[0] if said else ""
