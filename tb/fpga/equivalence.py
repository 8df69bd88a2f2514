"""`make equivalence`: is the netlist of a block the block? Yosys proves it, for blocks that are small enough.

Usage: `python -m tb.fpga.equivalence [--cells generic|ecp5] [--parts] [BLOCK ...]`. Every wire that both have under one
name is a point, at least the ports and most registers. A point is proved if it is equal for all values of the points
before it, or by induction over clock edges from equal states. A wire that is neither port nor register and that is not
proved is left out; all other points are proved without it. The netlist is the file that benches simulate. Registers
are not compared before their reset; an asynchronous reset is taken at clock edges. A block that is not proved as a
whole, or any block with --parts, is compared part by part: see tb/fpga/parts.py. With --write, the verdicts go to
equal.json and to the table in tb/fpga/README.md; blocks that are not named keep theirs.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

from pymodels.errors import SanlabError
from pymodels.results import write_atomically
from tb.fpga.mapping import (
    CELLS,
    LEAVE,
    NETLIST,
    STATES,
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
from tb.fpga.netlist import PORTS
from tb.fpga.page import table_lines, write_part
from tb.fpga.parts import PART, READ_PART, Part, split
from tb.fpga.progress import each
from tb.fpga.synth import SIZES
from tb.quality.check import LATE
from tb.tools.ending import end_on_terminate
from tb.tools.programs import ToolError

EQUAL = Path(__file__).with_name("equal.json")
"""Recorded verdicts by block and kind of cells."""
LARGEST = 4000
"""Number of cells and bits of memory above which a proof is not tried; a block of more LUTs is not even mapped."""
PROOF_SECONDS = 300
"""Wall time after which a proof is given up."""
PROVED, BY_PARTS = "proved", "by parts"
TOO_LARGE = "too large"
"""Verdict on a block above LARGEST."""
PROVE = """{read}
memory_map
async2sync
opt_clean
{buffers}rename -top gold
design -stash gold
read_verilog -icells {files}
hierarchy -top {top}
proc
memory_map
flatten
async2sync
opt_clean
{buffers}rename -top gate
design -stash gate
design -copy-from gold -as gold gold
design -copy-from gate -as gate gate
equiv_make {states}gold gate equiv
hierarchy -top equiv
opt_clean
equiv_simple -undef -seq 1
equiv_induct -undef -seq 3
{more}tee -q -o {status} equiv_status
"""
TWO_VALUED = "equiv_simple -seq 1\nequiv_induct -seq 3\n"
"""Further commands for points that are left: all values are 0 or 1. LUTs may turn an unknown value of one input, which
the expression does not depend on, into an unknown output.
"""
BUFFERS = "insbuf\n"
"""Command that parts outputs which are one net, so that they are independent points."""
MEMORY = re.compile("Gold module contains memories|no valid mapping found for memory")
"""Messages of Yosys about a memory that it cannot turn into registers: its ports have different clocks."""
WORDS = re.compile(r"^  reg (?:\[(\d+):0\] )?\S+ +\[(\d+):0\];", re.MULTILINE)
"""Memory of a netlist: highest bit of a word, highest address."""
REMOVED = re.compile(r"^  assign (?P<wire>\\?[^ ]+) +(?:\[[\d:]+\] )?= \d+'hx+;\n", re.MULTILINE)
"""Wire of a netlist whose register mapping has removed, because nothing reads it."""
JOINED = re.compile(r"Unproven \$equiv \S+: \\?(\S+?)_gold (?:\[\d+\] )?\\(\S+?)_gate")
"""Point that is not proved, and the wire of the netlist that has its value."""
WIDTH = re.compile(r"^  wire (?:width (\d+) )?(?:\w+ \d+ )?\\(\w+)$", re.MULTILINE)
"""Wire in RTLIL."""
DECLARED = re.compile(r"^  (?:reg|wire) (?:\[(\d+):0\] )?([A-Za-z]\w*);$", re.MULTILINE)
"""Wire or register in a netlist in Verilog: highest bit, name."""
REGISTER = re.compile(r"^  reg (?:\[\d+:0\] )?\\?(\S+?);$", re.MULTILINE)
"""Register in a netlist of generic cells."""
LUT_RAM = "TRELLIS_DPR16X4"
GATE, CELL_MODELS, STATUS, SECONDS, UNNAMED = "gate.v", "models.v", "status.txt", "seconds.txt", "unnamed.txt"
FOUND = re.compile(r"Found (\d+) \$equiv cells")
OPEN = re.compile(r"Unproven \$equiv \S+: \\?(\S+?)_gold (.*)")
ABSENT = "1'x"
"""Bit of a wire that the netlist has no longer, because nothing reads it."""


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
    seconds: float = 0.0
    """Wall time of the proof."""
    failed: str = ""
    """Message of a tool that failed."""
    parts: int = 0
    """Number of parts that were compared in place of the whole block."""
    whole: str = ""
    """Verdict on the whole block, where its parts were compared after it."""

    @property
    def shown(self) -> str:
        """The verdict in words."""
        if self.failed:
            return "failed"
        if self.parts:
            own = f"{BY_PARTS}: {self._own}" if self._own != PROVED else f"{PROVED} {BY_PARTS}"
            return f"{own}; whole: {self.whole}" if self.whole else own
        return self._own

    @property
    def _own(self) -> str:
        if self.not_tried:
            return self.not_tried
        return f"{len(self.unproved)} of {self.points} points not proved" if self.unproved else PROVED

    @property
    def differs(self) -> bool:
        """True if a tool failed, or there are points that are not proved."""
        return bool(self.unproved or self.failed)


def judged(block: Block, cells: str) -> Verdict:
    """Compare a block with its netlist.

    Raises:
        ToolError: Unknown block or cells, or Yosys cannot map or read one of the two.
    """
    sizes = json.loads(SIZES.read_text(encoding="utf-8"))
    check_block(block.module)
    luts = sizes.get(block.shown, {}).get("luts", 0)
    if luts > LARGEST:
        return Verdict(block, cells, luts, not_tried=TOO_LARGE)
    generic = mapped(block, "generic")  # keeps memories, which ECP5 cells do not
    bits = memory_bits((generic / NETLIST).read_text(encoding="utf-8"))
    if bits + cell_count(generic) > LARGEST:
        return Verdict(block, cells, cell_count(generic), not_tried=TOO_LARGE)
    folder = mapped(block, cells)
    count = cell_count(folder)
    netlist = (folder / NETLIST).read_text(encoding="utf-8")
    if count > LARGEST:
        return Verdict(block, cells, count, not_tried=TOO_LARGE)
    if LUT_RAM in netlist:
        return Verdict(block, cells, count, not_tried="not compared: the words of LUT RAM have no names")
    try:
        return compared(block, cells, netlist, count, states_of(folder))
    except ToolError as error:
        if LATE in str(error):
            return Verdict(block, cells, count, not_tried=f"not proved within {PROOF_SECONDS} s")
        raise


def by_parts(block: Block, cells: str) -> Verdict:
    """Compare each part of a block with the netlist of this part; see tb/fpga/parts.py.

    The netlists keep the boundaries of modules. The block and its netlist are equal if all parts are, and memories are.

    Raises:
        ToolError: Unknown block or cells, or Yosys cannot map or read a part.
    """
    check_block(block.module)
    check_cells(cells)
    count = points = 0
    seconds = 0.0
    unproved: list[str] = []
    late: list[str] = []
    found = split(block)
    for part in found:
        try:
            one = part_verdict(part, cells)
        except ToolError as error:
            if LATE not in str(error):
                raise
            late.append(part.module)
            continue
        count, points, seconds = count + one.count, points + one.points, seconds + one.seconds
        unproved += [f"{part.shown}: {point}" for point in one.unproved]
    reason = f"not proved within {PROOF_SECONDS} s: {', '.join(dict.fromkeys(late))}" if late else ""
    return Verdict(block, cells, count, points, tuple(unproved), reason, seconds, parts=len(found))


def part_verdict(part: Part, cells: str) -> Verdict:
    """Compare a part with its netlist.

    Raises:
        ToolError: Yosys cannot map or read the part, or the proof exceeds its time.
    """
    folder = worked(f"part-{cells}", part, READ_PART + CELLS[cells] + LEAVE, {PART: part.text})
    netlist = (folder / NETLIST).read_text(encoding="utf-8")
    return compared(part, cells, netlist, cell_count(folder), states_of(folder))


def states_of(folder: Path) -> str:
    """Return the codes of states of a mapped block, empty if none is coded anew."""
    file = folder / STATES
    return file.read_text(encoding="utf-8") if file.exists() else ""


def memory_bits(netlist: str) -> int:
    """Return the number of bits of all memories of a netlist in Verilog."""
    return sum((int(top or 0) + 1) * (int(last) + 1) for top, last in WORDS.findall(netlist))


def tried(block: Block, cells: str, parts: bool = False) -> Verdict:
    """Compare a block with its netlist, or with True for `parts` each part of the block with the netlist of this part.

    Without `parts`, the parts are compared after a whole block that is not proved. An error of a tool becomes part of
    the verdict.
    """
    try:
        whole = Verdict(block, cells, 0) if parts else judged(block, cells)
        if not (parts or whole.unproved or whole.not_tried):
            return whole
        return replace(by_parts(block, cells), whole="" if parts else whole.shown)
    except ToolError as error:
        if MEMORY.search(str(error)):
            return Verdict(block, cells, 0, not_tried="not compared: a memory with two clocks has no registers")
        return Verdict(block, cells, 0, failed=str(error))


def compared(block: Block, cells: str, netlist: str, count: int, states: str = "") -> Verdict:
    """Compare a block with a netlist.

    Args:
        block: Block in the sources.
        cells: Kind of the netlist's cells.
        netlist: Netlist in Verilog.
        count: Number of its cells.
        states: Codes of states, as mapping leaves them.

    Raises:
        ToolError: Yosys cannot read one of the two.
    """
    verdict, wires = _compared(block, cells, netlist, count, states, "")
    if verdict.unproved:
        verdict, wires = _compared(block, cells, netlist, count, states, TWO_VALUED, wires)
    if verdict.unproved and isinstance(block, Part):
        wide = widened(netlist, block.text, states)
        again = _compared(block, cells, wide, count, states, TWO_VALUED, wires)[0] if wide != netlist else verdict
        if len(again.unproved) < len(verdict.unproved):
            verdict, netlist = again, wide
    if inner := inner_wires(verdict.unproved, netlist):
        again = _compared(block, cells, netlist, count, states, TWO_VALUED, wires | inner)[0]
        verdict = min(verdict, again, key=lambda one: len(one.unproved))
    return verdict


def _compared(
    block: Block, cells: str, netlist: str, count: int, states: str, more: str, unnamed: Collection[str] = ()
) -> tuple[Verdict, set[str]]:
    """Return the verdict of Yosys, and the wires that are one net with a point that is not proved.

    The arguments are those of `compared`, further commands, and wires that are not to be points.
    """
    given = {GATE: without_removed(netlist), CELL_MODELS: models(cells, netlist)}
    names = " ".join(name for name, text in given.items() if text)
    coded = f"-encfile {STATES} " if states else ""
    if unnamed:
        given[UNNAMED] = "\n".join(sorted(unnamed))
        coded += f"-blacklist {UNNAMED} "
    read = READ_PART if isinstance(block, Part) else read_command(block)
    buffers = BUFFERS if more else ""
    script = PROVE.format(
        read=read, top=block.module, files=names, states=coded, status=STATUS, more=more, buffers=buffers
    )
    given[STATES] = states
    if isinstance(block, Part):
        given[PART] = block.text
    folder = worked("equivalence", block, script, given, _timed, PROOF_SECONDS)
    said = (folder / STATUS).read_text(encoding="utf-8")
    found = FOUND.search(said)
    if not found:
        raise ToolError(f"{block.shown} is not compared", said.strip(), "`equiv_status` of Yosys counts the points")
    unproved, absent = open_points(said, netlist)
    verdict = Verdict(block, cells, count, int(found[1]) - absent, unproved, seconds=_seconds(folder))
    return verdict, aliases(said, netlist)


def port_names(netlist: str) -> set[str]:
    """Return the ports of a netlist in Verilog."""
    ports = PORTS.search(netlist)
    return set(ports[2].split(", ")) if ports else set()


def open_points(said: str, netlist: str) -> tuple[tuple[str, ...], int]:
    """Return the points of `equiv_status` that are not proved, and the number of bits that the netlist has no longer.

    A bit of a port that the netlist leaves without a value counts as not proved.
    """
    kept = port_names(netlist)
    points = [(name, rest.endswith(ABSENT) and name not in kept) for name, rest in OPEN.findall(said)]
    return tuple(name for name, absent in points if not absent), sum(absent for _, absent in points)


def aliases(said: str, netlist: str) -> set[str]:
    """Return the wires of a netlist that are one net with a point which `equiv_status` shows as not proved.

    Yosys makes two points of such a net, which then depend on each other. Ports are not among the wires.
    """
    kept = port_names(netlist)
    return {wire for point, wire in JOINED.findall(said) if wire != point and wire not in kept}


def inner_wires(points: Collection[str], netlist: str) -> set[str]:
    """Return those points that are neither a port nor a register.

    Mapping may give such a wire another value where nothing depends on it. Without it as a point, all others have to be
    proved through its logic.
    """
    kept = port_names(netlist) | set(REGISTER.findall(netlist))
    return {name for name in points if name not in kept and not name.endswith("_q")}


def widened(netlist: str, text: str, states: str) -> str:
    """Return a netlist in which wires narrower than those of the part have further bits of value 0.

    Mapping removes high bits that are always 0. As points they are proved, too, and give the register its width again.

    Args:
        netlist: Netlist in Verilog.
        text: Part in RTLIL.
        states: Codes of states; registers named there have other widths.
    """
    ports = port_names(netlist)
    left = {name: int(width or 1) for width, name in WIDTH.findall(text)}
    for top, name in DECLARED.findall(netlist):
        more = left.get(name, 0) - int(top or 0) - 1
        if more <= 0 or name in ports or re.search(rf"^\.fsm .* {name}$", states, re.M):
            continue
        netlist = re.sub(rf"(?<![\w\\.']){name}(?!\w)", f"{name}_narrow", netlist)
        made = f"  wire [{left[name] - 1}:0] {name};\n  assign {name} = {{ {more}'h0, {name}_narrow }};\n"
        netlist = netlist.replace("endmodule", f"{made}endmodule", 1)
    return netlist


def without_removed(netlist: str) -> str:
    """Return a netlist without values of removed registers, which are then no points; ports keep theirs."""
    kept = port_names(netlist)
    return REMOVED.sub(lambda found: found[0] if found["wire"] in kept else "", netlist)


def _timed(folder: Path) -> None:
    """Write the time since Yosys was given its script."""
    begun = (folder / "script.ys").stat().st_mtime
    (folder / SECONDS).write_text(f"{time.time() - begun:.1f}", encoding="utf-8")


def _seconds(folder: Path) -> float:
    file = folder / SECONDS
    return float(file.read_text(encoding="utf-8")) if file.exists() else 0.0


def table(verdicts: list[Verdict]) -> Table:
    """Return the table of all verdicts."""
    made = Table("block", "cells", "equal", title="equivalence", title_justify="left")
    for one in verdicts:
        shown = f"[red]{one.shown}[/]" if one.differs else one.shown
        made.add_row(one.block.shown, f"{one.count} {one.cells}", shown)
    return made


def lines(verdict: Verdict) -> Iterator[str]:
    """Yield the points of a block that are not proved, and the message of a tool that failed."""
    if verdict.failed:
        yield f"{verdict.block.shown}, {verdict.cells} cells: {verdict.failed}"
    for point in dict.fromkeys(verdict.unproved):  # a point is a bit, its name that of the wire
        yield f"{verdict.block.shown}, {verdict.cells} cells: {point}: not proved to be equal"


def record(verdicts: Sequence[Verdict]) -> None:
    """Write verdicts beside those that are recorded for other blocks, and the page's table of all."""
    records: dict[str, dict[str, dict[str, str | float]]] = json.loads(EQUAL.read_text(encoding="utf-8"))
    for one in verdicts:
        records.setdefault(one.block.shown, {})[one.cells] = {
            "cells": one.count,
            "points": one.points,
            "verdict": one.shown,
            "seconds": one.seconds,
        }
    records = {name: records[name] for name in sorted(records.keys() & hardware().keys())}
    write_atomically(EQUAL, json.dumps(records, indent=1, sort_keys=True) + "\n")
    write_part("make equivalence", f"{len(records)} of {len(hardware())} blocks", page_lines(records))


def page_lines(records: Mapping[str, Mapping[str, Mapping[str, str | float]]]) -> Iterator[str]:
    """Yield the page's table: verdicts by kind of cells, with the names of the blocks that are not proved."""
    rows = []
    for cells in CELLS:
        found: dict[str, list[str]] = {}
        for name, kinds in sorted(records.items()):
            if cells in kinds:
                found.setdefault(str(kinds[cells]["verdict"]), []).append(name)
        for verdict, names in sorted(found.items(), key=lambda one: (one[0] != "proved", one[0])):
            total = sum(float(records[name][cells]["seconds"]) for name in names)
            shown = "all others" if verdict == "proved" else ", ".join(f"`{name}`" for name in names)
            rows.append((cells, verdict, shown, str(len(names)), f"{total:.0f}"))
    yield from table_lines(("cells", "verdict", "blocks", "number", "s"), rows, words=3)


def main(argv: list[str] | None = None) -> int:
    """Run the command `make equivalence` and return the exit code."""
    parser = argparse.ArgumentParser(prog="sanlab equivalence", description=__doc__)
    parser.add_argument("block", nargs="*", help="modules; all outside hdl/sim when none is named")
    parser.add_argument("--cells", default="", help=" or ".join(CELLS) + "; both when none is named")
    parser.add_argument("--parts", action="store_true", help="compare the parts of the blocks, not the whole blocks")
    parser.add_argument("--write", action="store_true", help="write the verdicts and the table of the page")
    options = parser.parse_args(argv)
    kinds = [options.cells] if options.cells else list(CELLS)
    console = Console(emoji=False)
    try:
        for name in options.block:
            check_block(name)
        for kind in kinds:
            check_cells(kind)
        jobs = [(Block(name), kind) for name in options.block or hardware() for kind in kinds]
        verdicts = each(
            console, jobs, lambda job: f"{job[0].shown}, {job[1]} cells", lambda job: tried(*job, options.parts)
        )
    except SanlabError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    console.print(table(verdicts))
    for one in verdicts:
        for line in lines(one):
            console.print(line, markup=False, highlight=False, soft_wrap=True)
    if options.write:
        record(verdicts)
    return 1 if any(one.differs for one in verdicts) else 0


if __name__ == "__main__":
    end_on_terminate()
    sys.exit(main())
