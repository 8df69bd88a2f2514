"""Blocks taken apart at the boundaries of their modules, so that each part can be compared with its netlist alone.

A part is the logic of one module without its child modules and memories. Their ports become ports of the part: an
input of a child is an output of the part, and an output of a child is an input. Parts with equal text are one part.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tb.fpga.mapping import Block, read_command, worked
from tb.tools.programs import ToolError

SPLIT = "split.il"
PART = "part.il"
"""File with the text of a part, in the folder of each script that reads the part."""
READ_PART = f"read_rtlil {PART}\n"
MODULE = re.compile(r"^module (\S+)\n(.*?)^end\n", re.DOTALL | re.MULTILINE)
CELL = re.compile(r"^  cell (\S+) (\S+)\n(.*?)^  end\n", re.DOTALL | re.MULTILINE)
PORT = re.compile(r"^  wire (?:width (?P<width>\d+) )?(?P<way>input|output|inout) \d+ \\(?P<name>\S+)$", re.MULTILINE)
CONNECTION = re.compile(r"^    connect \\(\S+) (.*)$", re.MULTILINE)
PARAMETER = re.compile(r"^    parameter \\(\w+) (\d+)(?:'([01]+))?$", re.MULTILINE)
ATTRIBUTE = re.compile(r"^ *attribute .*\n", re.MULTILINE)
NUMBERED = re.compile(r"(?<!\S)\$\S*\$\d\S*|(?<!\S)\$\d\S*")
"""Name with a running number that Yosys gives."""
NUMBER = re.compile(r"\$\d+(?!\d)")
MEMORY = "$mem_v2"
Ports = Mapping[str, tuple[str, int]]
"""Direction and width of ports by name."""


@dataclass(frozen=True)
class Part(Block):
    """Logic of one module, without its child modules and memories."""

    text: str = ""
    """RTLIL."""
    where: str = ""
    """Path of one of its instances from the top."""

    @property
    def shown(self) -> str:
        """Name of the module and the path of an instance."""
        return f"{self.module} ({self.where})" if self.where else self.module

    @property
    def files(self) -> list[Path]:
        """No source: the text is all that a script reads."""
        return []


def split(block: Block) -> list[Part]:
    """Return the parts of a block without duplicates, the block's own logic first.

    Raises:
        ToolError: Yosys cannot read the block, or a child has a port that is input and output.
    """
    read = read_command(block).replace("read_slang ", "read_slang --keep-hierarchy ")
    folder = worked("split", block, f"{read}memory_collect\nwrite_rtlil {SPLIT}\n")
    return list(parts_of((folder / SPLIT).read_text(encoding="utf-8"), block.module))


def parts_of(text: str, top: str) -> Iterator[Part]:
    """Yield the parts of a design in RTLIL, in which memories are cells."""
    modules = {name[1:]: body for name, body in MODULE.findall(ATTRIBUTE.sub("", text))}
    ports = {name: _ports(body) for name, body in modules.items()}
    known: set[tuple[str, str]] = set()
    pending = [top]
    visited = {top}
    while pending:
        name = pending.pop(0)
        body = opened(modules[name], ports)
        module, _, where = name.partition("$")
        made = f"attribute \\top 1\nmodule \\{module}\n{body}end\n"
        if (module, made) not in known:
            known.add((module, made))
            yield Part(module, text=made, where=where.partition(".")[2])
        for child, _, _ in CELL.findall(modules[name]):
            if child[1:] in modules and child[1:] not in visited:
                visited.add(child[1:])
                pending.append(child[1:])


def opened(body: str, modules: Mapping[str, Ports]) -> str:
    """Return a module's text with the ports of its children and memories as its own ports.

    Args:
        body: Text between the module's name and its end.
        modules: Ports of all modules by name.
    """
    taken = {name.lstrip("\\") for name in re.findall(r"^  wire .* (\S+)$", body, re.MULTILINE)}
    wires: list[str] = []
    connections: list[str] = []
    count = len(PORT.findall(body))

    def taken_out(cell: re.Match[str]) -> str:
        nonlocal count
        kind, name, inside = cell.groups()
        ports = _memory_ports(inside) if kind == MEMORY else modules.get(kind[1:])
        if ports is None:
            return cell[0]
        joined = dict(CONNECTION.findall(inside))
        for port, (way, width) in ports.items():
            if way == "inout":
                raise ToolError(f"port {port} of {name[1:]}", "it is input and output", "parts have inputs and outputs")
            wire = _free(re.sub(r"\W+", "_", f"{name[1:]}_{port}"), taken)
            count += 1
            other = "output" if way == "input" else "input"
            wires.append(f"  wire width {width} {other} {count} \\{wire}\n")
            signal = joined.get(port, "{ }")
            if signal != "{ }":
                ends = (f"\\{wire}", signal) if way == "input" else (signal, f"\\{wire}")
                connections.append(f"  connect {ends[0]} {ends[1]}\n")
        return ""

    left = CELL.sub(taken_out, body)
    numbers: dict[str, int] = {}

    def again(name: re.Match[str]) -> str:
        return NUMBER.sub(f"${numbers.setdefault(name[0], len(numbers) + 1)}", name[0])

    return NUMBERED.sub(again, "".join([*wires, left, *connections]))


def _ports(body: str) -> Ports:
    return {one["name"]: (one["way"], int(one["width"] or 1)) for one in PORT.finditer(body)}


def _memory_ports(inside: str) -> Ports | None:
    """Return the ports of a memory, whose widths are in its parameters; None for a memory that is never written.

    The words of a memory that is never written are constants of the part.
    """
    sizes = {name: int(bits or number, 2 if bits else 10) for name, number, bits in PARAMETER.findall(inside)}
    reads, writes, width, address = (sizes[name] for name in ("RD_PORTS", "WR_PORTS", "WIDTH", "ABITS"))
    if not writes:
        return None
    one_each = {f"RD_{name}": ("input", reads) for name in ("CLK", "EN", "ARST", "SRST")}
    return {
        **one_each,
        "RD_ADDR": ("input", reads * address),
        "RD_DATA": ("output", reads * width),
        "WR_CLK": ("input", writes),
        "WR_EN": ("input", writes * width),
        "WR_ADDR": ("input", writes * address),
        "WR_DATA": ("input", writes * width),
    }


def _free(name: str, taken: set[str]) -> str:
    """Return a name that is not taken yet, and mark it as taken."""
    found, number = name, 1
    while found in taken:
        number += 1
        found = f"{name}_{number}"
    taken.add(found)
    return found
