"""Rules for hardware, checked in its netlist before and after memories are mapped; each complaint names its line.

Before, these are rejected: latch, division, multiplication by a constant (the multiplier of an index), long
asynchronous read of a memory, combinational loop, wire with several drivers or none. After, no memory may be left that
would become flip-flops.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

DIVISIONS = {"$div": "division", "$mod": "modulo", "$divfloor": "division", "$modfloor": "modulo", "$pow": "power"}
LATCHES = {"$dlatch", "$adlatch", "$dlatchsr", "$sr"}
ASYNC_WORDS = 64
"""Most words of a memory that is read without a clock."""
FLIP_FLOP_BITS = 64
"""Most bits of a memory that may become flip-flops: for less than that, LUT RAM saves nothing."""
WARNING = re.compile(r"^Warning: (.*)$", re.MULTILINE)
LOOP = "found logic loop"


def complaints(
    read: Mapping[str, Any], memories: Mapping[str, Any], left: Mapping[str, Any], checked: str
) -> list[str]:
    """Return what is wrong with a block.

    Args:
        read: Module of Yosys' JSON after the sources were read and constants folded.
        memories: The module when registers of reads belong to the memories, before these are mapped.
        left: The module when memories have become block RAM and LUT RAM, before the others become flip-flops.
        checked: Output of Yosys' `check`.
    """
    found = *_drivers(checked), *_arithmetic(read), *_asynchronous(memories), *_in_flip_flops(left)
    return list(dict.fromkeys(found))


def _drivers(checked: str) -> Iterator[str]:
    for found in WARNING.finditer(checked):
        named = re.sub(r"\S+\.\\(\S+)(?: \[\d+\])?", r"\1", found[1])  # without module, backslash and bit
        yield f"combinational loop: {_loop(checked)}" if LOOP in named else named.rstrip(".:")


def _loop(checked: str) -> str:
    nets = re.findall(r"^\s+wire (\S+)", checked, re.MULTILINE)
    return " -> ".join(dict.fromkeys(net.lstrip("\\") for net in nets)) or "see `check` of Yosys"


def _arithmetic(read: Mapping[str, Any]) -> Iterator[str]:
    for cell in read["cells"].values():
        kind = str(cell["type"])
        if kind in LATCHES:
            yield f"{_line(cell)}: latch for {_output(read, cell)}; assign it in every branch"
        elif kind in DIVISIONS:
            yield f"{_line(cell)}: {DIVISIONS[kind]}; count, or shift by a power of two"
        elif kind == "$mul" and any(map(_constant, (cell["connections"]["A"], cell["connections"]["B"]))):
            yield f"{_line(cell)}: multiplication by a constant; index a packed array of a power of two, or add"


def _asynchronous(memories: Mapping[str, Any]) -> Iterator[str]:
    for cell in _memories(memories):
        words = _number(cell, "SIZE")
        if words > ASYNC_WORDS and "0" in _bits(cell, "RD_CLK_ENABLE"):
            yield (
                f"{_line(cell)}: asynchronous read of memory {_memory(cell)} with {words} words; at most {ASYNC_WORDS},"
                " or register the read"
            )


def _in_flip_flops(memories: Mapping[str, Any]) -> Iterator[str]:
    for cell in _memories(memories):
        bits = _number(cell, "SIZE") * _number(cell, "WIDTH")
        if bits > FLIP_FLOP_BITS and _number(cell, "WR_PORTS") and not _all_read(cell):
            ports = f"{_number(cell, 'WR_PORTS')} write and {_number(cell, 'RD_PORTS')} read ports"
            yield (
                f"{_line(cell)}: memory {_memory(cell)} of {bits} bits in flip-flops: {ports}; one write port, no"
                " reset, and reads that block RAM or LUT RAM can do"
            )


def _all_read(cell: Mapping[str, Any]) -> bool:
    """Return True if logic reads all words at once by constant addresses: they are registers, not a memory."""
    width = _number(cell, "ABITS")
    address = cell["connections"]["RD_ADDR"]
    if not width:  # a single word
        return True
    ports = (address[at : at + width] for at in range(0, len(address), width))
    return len({tuple(bits) for bits in ports if _constant(bits)}) >= _number(cell, "SIZE")


def _memories(module: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    return (cell for cell in module["cells"].values() if cell["type"] == "$mem_v2")


def _constant(bits: Iterable[int | str]) -> bool:
    return all(isinstance(bit, str) for bit in bits)


def _bits(cell: Mapping[str, Any], name: str) -> str:
    return str(cell["parameters"][name])


def _number(cell: Mapping[str, Any], name: str) -> int:
    return int(_bits(cell, name), 2)


def _memory(cell: Mapping[str, Any]) -> str:
    return str(cell["parameters"]["MEMID"]).lstrip("\\")


def _output(module: Mapping[str, Any], cell: Mapping[str, Any]) -> str:
    bits = set(cell["connections"]["Q"])
    names = [name for name, net in module["netnames"].items() if bits & set(net["bits"]) and not net.get("hide_name")]
    return min(names, key=len, default="a wire")


def _line(cell: Mapping[str, Any]) -> str:
    """Return file and line of a cell, without columns."""
    source = str(cell.get("attributes", {}).get("src", "")).split("|")[0]
    return re.sub(r":(\d+)\..*$", r":\1", source) or "unknown line"
