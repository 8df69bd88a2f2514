"""Generator of the SystemVerilog package with the instruction set and the codes of the core.

`python -m pymodels.lanai.package --sv` writes `hdl/nic/core/myri_lanai_isa_pkg.sv`; a test compares the two.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from pymodels.lanai.faults import Fault, Stall
from pymodels.lanai.isa import FORMATS, Condition, Count, Op
from pymodels.registers import command, enumeration

PACKAGE = Path(__file__).parents[2] / "hdl/nic/core/myri_lanai_isa_pkg.sv"


def text() -> str:
    """Return the text of the package."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "// The LANai's instruction set. GENERATED from pymodels/lanai/isa.py and faults.py by"
    yield "// `python -m pymodels.lanai.package --sv`; edit those files, never this one."
    yield "package myri_lanai_isa_pkg;"
    yield "  /* verilator lint_off UNUSEDPARAM */  // an instruction set is whole; no block uses all of it"
    yield ""
    yield "  // Formats: a word has one where word & MASK == MATCH."
    for one in FORMATS:
        yield f"  localparam logic [31:0] {one.name}_MASK = 32'h{one.mask:08X};"
        yield f"  localparam logic [31:0] {one.name}_MATCH = 32'h{one.match:08X};"
    for prefix, group, width in (("OP", Op, 3), ("COUNT", Count, 3), ("CONDITION", Condition, 4),
                                 ("FAULT", Fault, 4), ("STALL", Stall, 3)):  # fmt: skip
        yield ""
        yield f"  // {(group.__doc__ or '').splitlines()[0]}"
        yield from enumeration(prefix.lower(), prefix, group, width)
    yield "endpackage"


def main(arguments: list[str]) -> int:
    """Run the command line: `--sv` writes the package; without arguments its text is printed."""
    return command(arguments, "pymodels.lanai.package", PACKAGE, text())


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
