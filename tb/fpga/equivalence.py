"""`make equivalence`: is the netlist of a block the block? Yosys proves it, for blocks that are small enough.

Usage: `python -m tb.fpga.equivalence [--cells generic|ecp5] [BLOCK ...]`. Every wire that both have under one name is a
point, at least the ports and most registers. A point is proved if it is equal for all values of the points before it,
or by induction over clock edges from equal states. The netlist is the file that benches simulate. Registers are not
compared before their reset.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from pymodels.errors import SanlabError
from tb.fpga.mapping import (
    CELLS,
    NETLIST,
    Block,
    cell_count,
    check_block,
    check_cells,
    hardware,
    mapped,
    read_command,
    worked,
)
from tb.fpga.models import models
from tb.quality.check import LATE, WORKERS
from tb.report.terminal import status
from tb.tools.ending import end_on_terminate
from tb.tools.programs import ToolError

LARGEST = 4000
"""Number of cells above which a proof is not tried."""
PROVE = """{read}
memory_map
opt_clean
rename -top gold
design -stash gold
read_verilog -icells {files}
hierarchy -top {top}
proc
memory_map
flatten
opt_clean
rename -top gate
design -stash gate
design -copy-from gold -as gold gold
design -copy-from gate -as gate gate
equiv_make gold gate equiv
hierarchy -top equiv
opt_clean
equiv_simple -undef -seq 1
equiv_induct -undef -seq 3
tee -q -o {status} equiv_status
"""
LUT_RAM = "TRELLIS_DPR16X4"
GATE, CELL_MODELS, STATUS = "gate.v", "models.v", "status.txt"
FOUND = re.compile(r"Found (\d+) \$equiv cells")
OPEN = re.compile(r"Unproven \$equiv \S+: (\S+) (\S+)")


@dataclass(frozen=True)
class Verdict:
    """Result of the comparison of a block with its netlist."""

    block: Block
    cells: str
    count: int
    """Number of cells."""
    points: int = 0
    """Number of wires compared."""
    unproved: tuple[str, ...] = ()
    """Points that are not proved to be equal."""
    not_tried: str = ""
    """Why the proof was not tried, or had no result."""

    @property
    def shown(self) -> str:
        """The verdict in words."""
        if self.not_tried:
            return self.not_tried
        return f"{len(self.unproved)} of {self.points} points not proved" if self.unproved else "proved"

    @property
    def differs(self) -> bool:
        """True if there are points that are not proved."""
        return bool(self.unproved)


def judged(block: Block, cells: str) -> Verdict:
    """Compare a block with its netlist.

    Raises:
        ToolError: Unknown block or cells, or Yosys cannot map or read one of the two.
    """
    folder = mapped(block, cells)
    count = cell_count(folder)
    netlist = (folder / NETLIST).read_text(encoding="utf-8")
    if count > LARGEST:
        return Verdict(block, cells, count, not_tried="too large")
    if LUT_RAM in netlist:
        return Verdict(block, cells, count, not_tried="not compared: the words of LUT RAM have no names")
    try:
        return compared(block, cells, netlist, count)
    except ToolError as error:
        if LATE in str(error):
            return Verdict(block, cells, count, not_tried="too large: not proved in time")
        raise


def compared(block: Block, cells: str, netlist: str, count: int) -> Verdict:
    """Compare a block with a netlist, given as text. Raises ToolError if Yosys cannot read one of the two."""
    given = {GATE: netlist, CELL_MODELS: models(cells, netlist)}
    names = " ".join(name for name, text in given.items() if text)
    script = PROVE.format(read=read_command(block), top=block.module, files=names, status=STATUS)
    folder = worked("equivalence", block, script, given)
    said = (folder / STATUS).read_text(encoding="utf-8")
    found = FOUND.search(said)
    if not found:
        raise ToolError(f"{block.shown} is not compared", said.strip(), "`equiv_status` of Yosys counts the points")
    return Verdict(block, cells, count, int(found[1]), tuple(one[0] for one in OPEN.findall(said)))


def table(verdicts: list[Verdict]) -> Table:
    """Return the table of all verdicts."""
    made = Table("block", "cells", "equal", title="equivalence", title_justify="left")
    for one in verdicts:
        shown = f"[red]{one.shown}[/]" if one.differs else one.shown
        made.add_row(one.block.shown, f"{one.count} {one.cells}", shown)
    return made


def lines(verdict: Verdict) -> Iterator[str]:
    """Yield the points of a block that are not proved."""
    for point in verdict.unproved:
        yield f"{verdict.block.shown}, {verdict.cells} cells: {point}: not proved to be equal"


def main(argv: list[str] | None = None) -> int:
    """Run the command `make equivalence` and return the exit code."""
    parser = argparse.ArgumentParser(prog="sanlab equivalence", description=__doc__)
    parser.add_argument("block", nargs="*", help="modules; all outside hdl/sim when none is named")
    parser.add_argument("--cells", default="", help=" or ".join(CELLS) + "; both when none is named")
    options = parser.parse_args(argv)
    kinds = [options.cells] if options.cells else list(CELLS)
    console = Console(emoji=False)
    try:
        for name in options.block:
            check_block(name)
        for kind in kinds:
            check_cells(kind)
        jobs = [(Block(name), kind) for name in options.block or hardware() for kind in kinds]
        with status(console, f"{len(jobs)} netlists"), ThreadPoolExecutor(WORKERS) as pool:
            verdicts = list(pool.map(lambda job: judged(*job), jobs))
    except SanlabError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    console.print(table(verdicts))
    for one in verdicts:
        for line in lines(one):
            console.print(line, markup=False, highlight=False, soft_wrap=True)
    return 1 if any(one.differs for one in verdicts) else 0


if __name__ == "__main__":
    end_on_terminate()
    sys.exit(main())
