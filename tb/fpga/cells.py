"""Sizes and LUT levels of a netlist that Yosys has mapped to cells of ECP5.

A level is a LUT, or the entry into a carry chain: the carry itself is fast, and the multiplexers PFUMX and L6MUX21 are
part of the slice. A path starts at a flip-flop, a block RAM or an input, and ends at one or at an output.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

LUTS = {"LUT4": 1, "CCU2C": 2, "TRELLIS_DPR16X4": 6}
"""LUTs of a cell: of LUT RAM, four that store and two that write."""
FREE = {"PFUMX": 0, "L6MUX21": 0, "LUT4": 1, "MULT18X18D": 1, "ALU54B": 1}
"""Levels of combinational cells other than carry chains and LUT RAM."""
Bit = int | str


@dataclass(frozen=True)
class Cells:
    """Size of a mapped block."""

    luts: int
    flops: int
    block_rams: int
    dsps: int
    levels: int
    """LUT levels of the longest path."""


@dataclass(frozen=True)
class _Node:
    """Combinational arc into a bit: the bits that it depends on, each with the levels between."""

    sources: tuple[tuple[Bit, int], ...]


def count(module: Mapping[str, Any]) -> Cells:
    """Return the size of a module of Yosys' JSON."""
    types = Counter(_kind(cell) for cell in module["cells"].values())
    return Cells(
        luts=sum(types[name] * each for name, each in LUTS.items()),
        flops=types["TRELLIS_FF"],
        block_rams=types["DP16KD"],
        dsps=types["MULT18X18D"],
        levels=max(_levels(_all_arcs(module))[0].values(), default=0),
    )


def longest_path(module: Mapping[str, Any]) -> list[str]:
    """Return the named nets of a longest path: that of its start, those of LUTs on the way, and its end."""
    arcs = _all_arcs(module)
    levels, before = _levels(arcs)
    end: Bit | None = max(levels, key=lambda bit: levels[bit], default=None)
    if end is None:
        return []
    names = _names(module)
    found = [_ends(module, names).get(end, "")]
    visited: set[Bit] = set()  # a combinational loop has no start
    while end is not None and end not in visited:
        visited.add(end)
        found.append(names.get(end, ""))
        end = before.get(end)
    return [name for name in dict.fromkeys(found[::-1]) if name]


def _all_arcs(module: Mapping[str, Any]) -> dict[Bit, _Node]:
    return {bit: node for cell in module["cells"].values() for bit, node in _arcs(cell)}


def _ends(module: Mapping[str, Any], names: Mapping[Bit, str]) -> dict[Bit, str]:
    """Return a name of what a bit is the input of: a flip-flop by its output, a block RAM by its type."""
    found = {}
    for cell in module["cells"].values():
        kind, pins = _kind(cell), cell["connections"]
        if kind == "TRELLIS_FF":
            found.update({bit: names.get(pins["Q"][0], "") for pin in ("DI", "CE", "LSR") for bit in pins.get(pin, [])})
        elif kind == "DP16KD":
            found.update({bit: "block RAM" for bits in pins.values() for bit in bits})
    return found


def _kind(cell: Mapping[str, Any]) -> str:
    return str(cell["type"]).rsplit("\\", 1)[-1]


def _arcs(cell: Mapping[str, Any]) -> Iterator[tuple[Bit, _Node]]:
    kind = _kind(cell)
    pins: Mapping[str, list[Bit]] = cell["connections"]
    directions: Mapping[str, str] = cell["port_directions"]
    if kind == "CCU2C":
        inputs = [(bit, 1) for pin, bits in pins.items() if pin[:-1] in {"A", "B", "C", "D"} for bit in bits]
        node = _Node((*inputs, *((bit, 0) for bit in pins.get("CIN", []))))
    elif kind == "TRELLIS_DPR16X4":
        node = _Node(tuple((bit, 1) for bit in pins["RAD"]))
    elif kind in FREE:
        node = _Node(
            tuple((bit, FREE[kind]) for pin, bits in pins.items() if directions[pin] == "input" for bit in bits)
        )
    else:
        return
    for pin, bits in pins.items():
        if directions[pin] == "output":
            yield from ((bit, node) for bit in bits)


def _levels(arcs: Mapping[Bit, _Node]) -> tuple[dict[Bit, int], dict[Bit, Bit]]:
    """Return the levels of each driven bit, and the bit before it on a longest path."""
    levels: dict[Bit, int] = {}
    before: dict[Bit, Bit] = {}
    opened: set[Bit] = set()
    for first in arcs:
        pending = [first]
        while pending:
            bit = pending[-1]
            if bit in levels:
                pending.pop()
                continue
            sources = arcs[bit].sources
            missing = [] if bit in opened else [one for one, _ in sources if one in arcs and one not in levels]
            opened.add(bit)
            if missing:
                pending.extend(missing)
                continue
            pending.pop()
            levels[bit] = 0
            for one, more in sources:
                if levels.get(one, 0) + more > levels[bit] or bit not in before:
                    levels[bit], before[bit] = levels.get(one, 0) + more, one
    return levels, before


def _names(module: Mapping[str, Any]) -> dict[Bit, str]:
    """Return the shortest name of each bit that is in the sources."""
    names: dict[Bit, str] = {}
    for name, net in module["netnames"].items():
        if net.get("hide_name") or "$" in name:
            continue
        for index, bit in enumerate(net["bits"]):
            shown = f"{name}[{index}]" if len(net["bits"]) > 1 else name
            if bit not in names or len(shown) < len(names[bit]):
                names[bit] = shown
    return names
