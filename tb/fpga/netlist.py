"""Netlists in the place of hardware: the design of a bench, with its blocks of hardware mapped to cells.

The blocks are the topmost instances of modules outside of hdl/sim and benches; what is around them stays RTL. A block
is replaced by a module of its name and ports, which has the netlist of each set of parameters that the bench uses.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pymodels.errors import ConfigError
from tb.build.build import Design, build
from tb.fpga.mapping import NETLIST, Block, cell_count, check_cells, hardware, mapped
from tb.fpga.models import models, tied
from tb.quality.text import bare
from tb.run.block_bench import Bench
from tb.tools.programs import ToolError

COMPUTES = "SLEEPS"
"""Parameter of modules that compute time by a division, for clocks that skip edges; such an instance stays RTL."""
FILLED = {"myri_sram"}
"""Memories that benches fill and read by name; they stay RTL."""
SCOPE = re.compile(r'^S_(?P<id>\w+) \.scope module, "[^"]*" "(?P<module>\w+)"[^;\n]*?(?:, S_(?P<parent>\w+))?;$')
PART = re.compile(r"^S_(?P<id>\w+) \.scope [^;\n]*?(?:, S_(?P<parent>\w+))?;$")
PARAMETER = re.compile(r'^P_\w+ \.param/\w "(?P<name>\w+)" 0 [^,]*, (?P<sign>\+?)C4<(?P<bits>[01]+)>;$')
PORTS = re.compile(r"^module (\w+)\(([^)]*)\);", re.MULTILINE)
QUIET = ["LATCH", "MULTIDRIVEN", "PINMISSING", "UNDRIVEN", "COMBDLY", "IMPLICIT"]
"""Warnings of Verilator about wiring, which concern what people write."""


@dataclass(frozen=True)
class Replaced:
    """Bench on netlists."""

    bench: Bench
    blocks: tuple[Block, ...]
    cells: int
    """Number of cells of all blocks."""


def replaced(bench: Bench, cells: str) -> Replaced:
    """Return a bench whose blocks of hardware are netlists.

    Args:
        bench: Bench to change.
        cells: Kind of cells.

    Raises:
        ConfigError: Unknown cells, the bench has no block that can be replaced, or says why it is not run on netlists.
        ToolError: A block cannot be mapped.
    """
    check_cells(cells)
    if bench.no_netlist:
        raise ConfigError(bench.name, 0, "is not run on a netlist", bench.no_netlist, "run it without NETLIST")
    blocks = blocks_of(bench.design)
    if not blocks:
        cause = f"{bench.design.top} has no module outside of hdl/sim that could be a netlist"
        raise ConfigError(bench.name, 0, "no block of hardware", cause, "run it without NETLIST")
    generated = modules(blocks, cells)
    design = replace(bench.design, generated={**bench.design.generated, **generated})
    count = sum(cell_count(mapped(one, cells)) for one in blocks)
    environment = {**bench.environment, "SANLAB_NETLIST": cells}
    return Replaced(replace(bench, design=design, environment=environment), tuple(blocks), count)


def modules(blocks: Sequence[Block], cells: str) -> dict[str, str]:
    """Return the sources that replace blocks by their netlists, by file name, with the models of their cells.

    Args:
        blocks: The blocks; several of one module differ in parameters.
        cells: Kind of cells.

    Raises:
        ConfigError: Unknown cells.
        ToolError: A block cannot be mapped.
    """
    made = {f"{name}.sv": _module(name, blocks, cells) for name in dict.fromkeys(one.module for one in blocks)}
    needed = models(cells, "".join(made.values()))
    return {**made, "cells.v.sv": _quiet(needed)} if needed else made


def blocks_of(design: Design) -> list[Block]:
    """Return the topmost blocks of hardware in a design, each with the values of its parameters, without duplicates."""
    program = build(design, "icarus").folder / "top.vvp"
    found = topmost(program.read_text(encoding="utf-8"), frozenset(hardware().keys() - FILLED))
    return [one for one in found if not one.parameters.get(COMPUTES)]


def topmost(program: str, known: frozenset[str]) -> list[Block]:
    """Return the topmost instances of known modules in a program of Icarus, without duplicates, sorted."""
    inside: set[str] = set()  # scopes below such an instance, and the instance itself
    found: dict[str, tuple[str, dict[str, int]]] = {}
    current = ""
    for line in program.splitlines():
        if scope := PART.match(line):
            current = scope["id"]
            module = SCOPE.match(line)
            if scope["parent"] in inside:
                inside.add(current)
            elif module and module["module"] in known:
                inside.add(current)
                found[current] = module["module"], {}
        elif current in found and (given := PARAMETER.match(line)):
            found[current][1][given["name"]] = _number(given["bits"], signed=bool(given["sign"]))
    unique = {(name, tuple(sorted(values.items()))) for name, values in found.values()}
    return [Block(name, dict(values)) for name, values in sorted(unique)]


def _number(bits: str, signed: bool) -> int:
    return int(bits, 2) - (signed and bits[0] == "1") * (1 << len(bits))


def _module(name: str, blocks: Sequence[Block], cells: str) -> str:
    """Return the source of a block that consists of the netlists of its sets of parameters."""
    source = hardware()[name].read_text(encoding="utf-8")
    choices, texts = [], []
    pins = ""
    for number, block in enumerate(one for one in blocks if one.module == name):
        own = f"{name}_netlist_{number}"
        text, pins = _renamed((mapped(block, cells) / NETLIST).read_text(encoding="utf-8"), own)
        texts.append(tied(text, cells))
        chosen = " && ".join(f"{key} == {value}" for key, value in block.parameters.items()) or "1"
        choices.append(f"if ({chosen}) begin : gen_netlist_{number}\n    {own} u_netlist ({pins});\n  end")
    head = header(source, name)
    if re.search(rf"\bparameter\b[^=;]*\b{COMPUTES}\b", head):
        values = ", ".join(f".{key}({key})" for key in next(one.parameters for one in blocks if one.module == name))
        choices.append(f"begin : gen_rtl\n    {name}_rtl #({values}) u_rtl ({pins});\n  end")
        texts.append(re.sub(rf"\bmodule\s+{name}\b", f"module {name}_rtl", source))
    return _quiet("\n".join([head, f"  {' else '.join(choices)}", "endmodule", *texts]))


def _renamed(netlist: str, name: str) -> tuple[str, str]:
    """Return a netlist with another name of its module, and the connections of its ports to wires of their names.

    Raises:
        ToolError: The text has no module.
    """
    ports = PORTS.search(netlist)
    if not ports:
        raise ToolError(f"netlist {name}", "it has no module", "`make synth` checks the block")
    pins = ", ".join(f".{port}({port})" for port in ports[2].split(", "))
    return PORTS.sub(rf"module {name}(\2);", netlist), pins


def header(source: str, name: str) -> str:
    """Return a module's source up to the end of its ports."""
    text = bare(source)
    start = re.search(rf"\bmodule\s+{name}\b(?:\s*import\s+\w+::\*\s*;)*", text)
    depth = 0
    for at in range(start.end() if start else 0, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if start and text[at] == ";" and not depth:
            return text[start.start() : at + 1]
    raise ToolError(f"module {name}", "its file has no such module with ports", "one file holds one module of its name")


def _quiet(text: str) -> str:
    return "".join(f"/* verilator lint_off {name} */\n" for name in QUIET) + text + "\n"
