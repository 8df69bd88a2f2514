"""Wrapper that registers all pins of a block, so that place and route measures paths within it.

Inputs come from shift registers with one pin, outputs are folded into registers with one pin, each in the clock of the
port. Settings are constants, as a profile gives them; outputs that only a simulator uses stay open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pymodels.profiles import Profile
from pymodels.settings import BUNDLES, Bundle
from tb.fpga.mapping import Block
from tb.plan import settings
from tb.quality import crossings

TOP = "pnr_top"
OPEN = re.compile(r"(^|_)(sleep|busy|needed|alarm|in_flight|trace)$|^tr_")
"""Outputs for the simulator alone: clock gating and trace."""
CABLE = frozenset({"rx", "tx"})
"""Ports of the link clock without its prefix."""
TIED = {"stop_lasts": 0, "sleep": 0, "present": -1}
"""Inputs that are constant in hardware; -1: all bits set."""
BUNDLE = re.compile(r"^\s*input\s+(\w+)_settings_t\s+(\w+)", re.MULTILINE)


@dataclass(frozen=True)
class Port:
    """Port of a block, as Yosys reads it."""

    name: str
    output: bool
    width: int
    clock: str
    """Clock of the data; the ungated clock of a clock port."""
    is_clock: bool


def ports(module: Mapping[str, Any]) -> list[Port]:
    """Return the ports of a module of Yosys' JSON."""
    found: Mapping[str, Mapping[str, Any]] = module["ports"]
    inputs = [name for name, port in found.items() if port["direction"] == "input"]
    clocks = crossings.clocks(inputs)
    names = list(dict.fromkeys(clocks.values()))
    return [
        Port(
            name,
            port["direction"] == "output",
            len(port["bits"]),
            clocks.get(name) or _clock(name, names),
            name in clocks,
        )
        for name, port in found.items()
    ]


def _clock(name: str, clocks: list[str]) -> str:
    """Return the clock of a data port: by its prefix, else `clk`, else the first one; empty without clocks."""
    for clock in clocks:
        stem = clock.removesuffix("clk")
        if stem and (name.startswith(stem) or (stem == "link_" and name in CABLE)):
            return clock
    return "clk" if "clk" in clocks or not clocks else clocks[0]


def constants(block: Block, profile: Profile) -> dict[str, int]:
    """Return the values of the settings ports of a block as a profile gives them."""
    values = settings.switch_settings(profile) | settings.node_settings(profile) | settings.fpga_settings(profile)
    source = next(path for path in block.files if path.stem == block.module).read_text(encoding="utf-8")
    bundles = {bundle.name: bundle for bundle in BUNDLES}
    found = {port: _packed(bundles[name], values) for name, port in BUNDLE.findall(source)}
    for bundle in BUNDLES:
        for setting in bundle.settings:
            if int(setting) in values:
                found.setdefault(f"cfg_{bundle.field(setting)}", values[int(setting)])
    return found


def _packed(bundle: Bundle, values: Mapping[int, int]) -> int:
    return bundle.packed({field: values.get(key, 0) for field, key in _fields(bundle)})


def _fields(bundle: Bundle) -> Iterator[tuple[str, int]]:
    for inner in (bundle.inside or {}).values():
        yield from _fields(inner)
    yield from ((bundle.field(setting), int(setting)) for setting in bundle.settings)


def text(block: Block, found: list[Port], given: Mapping[str, int]) -> str:
    """Return the wrapper's source.

    Args:
        block: Block inside.
        found: Its ports.
        given: Constant inputs by name; others are registered.
    """
    clocks = list(dict.fromkeys(port.clock for port in found)) or ["clk"]
    lines = [f"module {TOP} (", *(f"    input {clock}," for clock in clocks)]
    lines += ["    input scan_in,", "    input rst_in,", "    output logic scan_out", ");"]
    connected: list[str] = []
    chains = dict.fromkeys(clocks, "scan_in")
    for port in found:
        more, pin = _wired(port, given, chains)
        lines += more
        connected.append(f".{port.name}({pin})")
    for clock in clocks:
        lines += [f"  logic last_{clock};", f"  always_ff @(posedge {clock}) last_{clock} <= {chains[clock]};"]
    folded = " ^ ".join(f"last_{clock}" for clock in clocks)
    lines.append(f"  always_ff @(posedge {clocks[0]}) scan_out <= {folded};")
    parameters = ", ".join(f".{name}({value})" for name, value in block.parameters.items())
    lines.append(f"  {block.module} #({parameters}) u_block (")
    lines.append(",\n".join(f"      {one}" for one in connected))
    return "\n".join([*lines, "  );", "endmodule", ""])


def _wired(port: Port, given: Mapping[str, int], chains: dict[str, str]) -> tuple[list[str], str]:
    """Return the lines that drive or register a port, and what it is connected to; `chains` continues."""
    name, clock = port.name, port.clock
    constant = given.get(name, TIED.get(name))
    if port.output and OPEN.search(name):
        return [], ""
    if port.is_clock:
        return [], f"{{{port.width}{{{clock}}}}}"
    if not port.output and constant is not None:
        return [], f"{port.width}'h{constant & (1 << port.width) - 1:x}"
    declared = f"  logic [{port.width - 1}:0] reg_{name};"
    if name.endswith("rst"):
        return [declared, f"  always_ff @(posedge {clock}) reg_{name} <= rst_in;"], f"reg_{name}"
    before, chains[clock] = chains[clock], f"reg_{name}[{port.width - 1}]"
    shifted = f"{port.width}'({{reg_{name}, {before}}})"
    if not port.output:
        return [declared, f"  always_ff @(posedge {clock}) reg_{name} <= {shifted};"], f"reg_{name}"
    wire = f"  logic [{port.width - 1}:0] out_{name};"
    return [declared, wire, f"  always_ff @(posedge {clock}) reg_{name} <= out_{name} ^ {shifted};"], f"out_{name}"
