"""Clock crossings of the hardware, read from the netlist that Yosys makes of each block with several clocks.

A register may depend on a register of another clock in four ways only: it is the first register of a synchroniser
(`myri_sync`) and its input is that register itself, without logic between; it reads the memory of `myri_cdc_fifo`,
whose pointers keep it from reading what is being written; it reads a memory with two ports (`myri_ram_dual`), whose
words belong to one side at a time; or it is reset by it in the bridge of a clock domain (`myri_reset`), which alone has
asynchronous resets. The name of a port says which clock it is: `pci_clk` and `pci_gated_clk` are one.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tb.quality.check import WORKERS, Check
from tb.quality.dialect import sources
from tb.quality.hdl import tops
from tb.quality.text import is_hardware
from tb.quality.yosys import yosys
from tb.tools.paths import OUT
from tb.tools.programs import ToolError

PORT = re.compile(r"^\s*input\s+(?:logic|wire)\s*(?:\[[^]]*\]\s*)?(\w*clk)\b", re.MULTILINE)
GATED = frozenset({"send_clk", "recv_clk", "pio_clk", "dma_clk", "rx_clk", "tx_clk"})
"""Ports for some edges of `clk`, like all whose names end with `gated_clk` and have no clock of their prefix."""
BRIDGE = "bridge_q"
"""Registers of `myri_reset`."""
FLIP_FLOP = re.compile(r"\$(?:\w*dff\w*|ff)$")
SCRIPT = """
read_verilog -sv {files}
hierarchy -check -top {top}
proc
flatten
opt_dff -nodffe
opt_clean
write_json netlist.json
"""
Bit = int | str


@dataclass
class Netlist:
    """Drivers of a flat netlist."""

    cells: Mapping[str, Any]
    nets: frozenset[str]
    """Names of all nets."""
    names: dict[Bit, str] = field(default_factory=dict)
    """Name of a bit's net, the longest one."""
    driver: dict[Bit, str] = field(default_factory=dict)
    """Cell that drives a bit."""
    clock: dict[str, str] = field(default_factory=dict)
    """Clock of each flip-flop and memory by name."""


def clocks(ports: Iterable[str]) -> dict[str, str]:
    """Return the clock of each clock port: the name of the port with all of its edges."""
    known = {port for port in ports if port.endswith("clk")}
    return {port: "clk" if port in GATED else _ungated(port, known) for port in known}


def _ungated(port: str, known: set[str]) -> str:
    whole = port.removesuffix("gated_clk") + "clk" if port.endswith("gated_clk") else port
    return whole if whole in known else "clk"


def several_clocks() -> list[Path]:
    """Return the blocks outside hdl/sim that have more than one clock."""
    return [path for path in tops() if is_hardware(path) and len(set(clocks(_ports(path)).values())) > 1]


def _ports(path: Path) -> list[str]:
    return PORT.findall(path.read_text(encoding="utf-8"))


def netlist(top: str, texts: Mapping[str, str] = MappingProxyType({})) -> dict[str, Any]:
    """Return a block's netlist as Yosys writes it. Raises ToolError if Yosys rejects the block.

    Args:
        top: Name of the module.
        texts: Sources of modules that replace those of the tree.
    """
    OUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=OUT, prefix=".crossings-") as scratch:
        folder = Path(scratch)
        files = " ".join(file.name for file in sources(top, folder, texts))
        code, lines = yosys(folder, SCRIPT.format(files=files, top=top))
        if code:
            raise ToolError(top, lines[-1] if lines else "no output", "correct the source for Yosys")
        read: dict[str, Any] = json.loads((folder / "netlist.json").read_text(encoding="utf-8"))["modules"][top]
        return read


def crossings(module: Mapping[str, Any]) -> Iterator[str]:
    """Yield a complaint about each register that samples another clock outside a synchroniser."""
    net = _indexed(module)
    reached = _Reached(net)
    for name, cell in net.cells.items():
        if FLIP_FLOP.match(cell["type"]):
            yield from _of_register(net, reached, name, cell)


def _of_register(net: Netlist, reached: _Reached, name: str, cell: Mapping[str, Any]) -> Iterator[str]:
    own, register = net.clock[name], net.names.get(cell["connections"]["Q"][0], name)
    if "ARST" in cell["connections"] and not register.endswith(BRIDGE):
        yield f"{register} of {own} has an asynchronous reset outside of myri_reset"
    others = set[str]()
    for pin, bits in cell["connections"].items():
        if pin not in ("Q", "CLK", "ARST"):
            others |= {source for bit in bits for source in reached.sources(bit)}
    for other in sorted(others):
        clock, _, memory = other.partition(":")
        if clock == own or (memory and _shared(net, memory.removesuffix("mem"))):
            continue
        if not memory and register.endswith("u_sync.sync_q") and _direct(net, cell, clock):
            continue
        yield f"{register} of {own} depends on {memory or 'a register'} of {clock}"


def _shared(net: Netlist, memory: str) -> bool:
    """Return True if the memory in the instance with this prefix may be read by another clock."""
    return f"{memory}u_to_read.u_sync.sync_q" in net.nets or {f"{memory}a_clk", f"{memory}b_clk"} <= net.nets


def _direct(net: Netlist, cell: Mapping[str, Any], clock: str) -> bool:
    """Return True if each bit of a register's input is a register of the other clock."""
    drivers = [net.driver.get(bit) for bit in cell["connections"]["D"]]
    return all(one is not None and net.clock.get(one) == clock for one in drivers)


def _indexed(module: Mapping[str, Any]) -> Netlist:
    net = Netlist(module["cells"], frozenset(module["netnames"]))
    for name, entry in module["netnames"].items():
        for bit in entry["bits"]:
            if len(name) > len(net.names.get(bit, "")):
                net.names[bit] = name
    known = clocks(name for name, port in module["ports"].items() if port["direction"] == "input")
    ports = {bit: clock for name, clock in known.items() for bit in module["ports"][name]["bits"]}
    for name, cell in net.cells.items():
        for pin, bits in cell["connections"].items():
            if cell["port_directions"][pin] == "output":
                net.driver.update(dict.fromkeys(bits, name))
        if FLIP_FLOP.match(cell["type"]) or cell["type"].startswith("$memwr"):
            clock = ports.get(cell["connections"]["CLK"][0])
            if clock is None:
                raise ToolError(name, "its clock is not a port of the block", "connect a clock port")
            net.clock[_memory(cell) or name] = clock
    return net


def _memory(cell: Mapping[str, Any]) -> str | None:
    memory = cell["parameters"].get("MEMID")
    return f"memory {memory.lstrip(chr(92))}" if memory else None


class _Reached:
    """Registers and memories that a bit depends on without a clock edge between, by their clocks."""

    def __init__(self, net: Netlist) -> None:
        self._net = net
        self._known: dict[str, frozenset[str]] = {}

    def sources(self, bit: Bit) -> frozenset[str]:
        """Return the clocks behind a bit, for memories as `clock:name`."""
        start = self._net.driver.get(bit)
        if start is None:
            return frozenset()
        stack = [start]
        while stack:
            name = stack[-1]
            if name in self._known:
                stack.pop()
                continue
            before = [] if FLIP_FLOP.match(self._net.cells[name]["type"]) else self._before(name)
            waiting = [one for one in before if one not in self._known]
            if waiting and name not in stack[:-1]:
                stack.extend(waiting)
                continue
            self._known[name] = self._own(name).union(*(self._known.get(one, frozenset()) for one in before))
            stack.pop()
        return self._known[start]

    def _before(self, name: str) -> list[str]:
        cell = self._net.cells[name]
        inputs = [
            bit for pin, bits in cell["connections"].items() if cell["port_directions"][pin] == "input" for bit in bits
        ]
        return list(dict.fromkeys(driver for bit in inputs if (driver := self._net.driver.get(bit)) is not None))

    def _own(self, name: str) -> frozenset[str]:
        cell = self._net.cells[name]
        if FLIP_FLOP.match(cell["type"]):
            return frozenset({self._net.clock[name]})
        memory = _memory(cell)
        if memory and memory in self._net.clock:
            return frozenset({f"{self._net.clock[memory]}:{memory.removeprefix('memory ')}"})
        return frozenset()


def _block(path: Path) -> list[str]:
    return [f"{path.stem}: {complaint}" for complaint in crossings(netlist(path.stem))]


def _check() -> tuple[str, list[str]]:
    paths = several_clocks()
    with ThreadPoolExecutor(WORKERS) as pool:
        found = [line for lines in pool.map(_block, paths) for line in lines]
    return f"{len(paths)} blocks", found


CHECKS = [Check("clock crossings", _check)]
