"""`make synth`: every block outside hdl/sim, mapped to cells of an ECP5 by Yosys, checked and compared.

Usage: `python -m tb.fpga.synth [BLOCK ...]`. It fails if a block breaks one of the rules of tb/fpga/rules.py, or if
Yosys cannot read it. Sizes and LUT levels are compared with those in sizes.json; a change above NAMED_PERCENT is named,
and is no failure. Results are cached by content.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console

from pymodels.errors import EXIT_CONFIGURATION
from pymodels.results import write_atomically
from tb.fpga import cells, rules
from tb.fpga.cells import Cells
from tb.fpga.mapping import Block, check_block, hardware, read_command, worked
from tb.fpga.progress import each
from tb.report.tables import Table
from tb.report.terminal import complain, exit_code, say, show
from tb.tools.programs import ToolError

SIZES = Path(__file__).with_name("sizes.json")
"""Committed sizes of all blocks."""
NAMED_PERCENT = 10
"""Changes of a size above this are named."""
LEAST = 4
"""Changes of a size by at most this are not named."""
RESULT = "result.json"
MAP = "synth_ecp5 -abc9 -noiopad -top {top} -run {steps}\n"
DUMP = "cd {top}\nwrite_json -selected {file}\ncd\n"
NO_LATCHES = "delete t:$dlatch t:$adlatch t:$dlatchsr t:$sr\n"
"""Command that removes latches, at which `synth_ecp5` would end; they are rejected."""
DROP = "delete t:$mem_v2 r:SIZE>=1024 %i\n"
"""Command that removes memories that would take minutes and gigabytes to become flip-flops; they are rejected."""
COLUMNS = {"luts": "LUTs", "flops": "flops", "block_rams": "block RAMs", "dsps": "DSPs", "levels": "LUT levels"}


@dataclass(frozen=True)
class Mapped:
    """Mapped block: its size, the longest path, or the complaints about it."""

    block: str
    size: Cells | None = None
    path: tuple[str, ...] = ()
    """Named nets of a longest path, from its start to its end."""
    messages: tuple[str, ...] = field(default=())


def script(block: Block, read: str) -> str:
    """Return the commands of Yosys that map a block once `read` has read it, with its netlist at each checked step."""
    top = block.module
    steps = ("begin:map_ram", "memories.json"), ("map_ram:map_ffram", "left.json"), ("map_ffram:check", "cells.json")
    lines = [read, "tee -q -o check.txt check\nopt_expr\n", DUMP.format(top=top, file="read.json"), NO_LATCHES]
    for run, file in steps:
        lines += [MAP.format(top=top, steps=run), DUMP.format(top=top, file=file)]
        if file == "left.json":
            lines.append(DROP)
    return "".join(lines)


def measure(block: Block, given: Mapping[str, str] | None = None) -> Mapped:
    """Return the size of a block and the complaints about it, from the cache if they are known.

    Args:
        block: Block to map.
        given: Texts of files by name that replace or complete the block's own.
    """
    read = read_command(block, given or ())
    makers = hashlib.sha256(b"".join(Path(one.__file__ or "").read_bytes() for one in (cells, rules))).hexdigest()[:16]
    try:
        folder = worked("synth", block, f"# checked by {makers}\n{script(block, read)}", given, _finish)
    except ToolError as error:
        return Mapped(block.shown, messages=tuple(error.cause.splitlines()))
    found = json.loads((folder / RESULT).read_text(encoding="utf-8"))
    return Mapped(block.shown, Cells(**found["size"]), tuple(found["path"]), tuple(found["messages"]))


def _finish(folder: Path) -> None:
    """Replace the dumped netlists by the result."""
    read, memories, left, mapped = (_module(folder / f"{name}.json") for name in ("read", "memories", "left", "cells"))
    checked = (folder / "check.txt").read_text(encoding="utf-8")
    found = {
        "size": asdict(cells.count(mapped)),
        "path": cells.longest_path(mapped),
        "messages": rules.complaints(read, memories, left, checked),
    }
    (folder / RESULT).write_text(json.dumps(found), encoding="utf-8")
    for name in ("read.json", "memories.json", "left.json", "cells.json", "check.txt", "script.ys"):
        (folder / name).unlink()


def _module(file: Path) -> Mapping[str, Any]:
    modules: Mapping[str, Mapping[str, Any]] = json.loads(file.read_text(encoding="utf-8"))["modules"]
    return next(iter(modules.values()))


def table(found: Sequence[Mapped]) -> Table:
    """Return the table of sizes."""
    rows = []
    for one in found:
        size = {} if one.size is None else asdict(one.size)
        rows.append((one.block, *(str(size.get(name, "")) for name in COLUMNS), "rejected" if one.messages else ""))
    return Table(("block", *COLUMNS.values(), ""), tuple(rows))


def compared(found: Sequence[Mapped], before: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Return lines about new blocks, and about sizes that differ from the committed by more than NAMED_PERCENT."""
    lines = []
    for one in found:
        was = before.get(one.block)
        if one.size is None:
            continue
        if was is None:
            lines.append(f"{one.block}: not among the committed sizes; `sanlab synth --write` records it")
            continue
        for name, shown in COLUMNS.items():
            new, old = asdict(one.size)[name], was[name]
            if abs(new - old) * 100 > NAMED_PERCENT * old and abs(new - old) > (LEAST if name == "luts" else 0):
                lines.append(f"{one.block}: {new} {shown} instead of {old}")
    return lines or [f"no size has changed by more than {NAMED_PERCENT} %"]


def main(argv: list[str] | None = None) -> int:
    """Run the command `make synth` and return the exit code."""
    parser = argparse.ArgumentParser(prog="sanlab synth", description=__doc__)
    parser.add_argument("block", nargs="*", help="modules; all outside hdl/sim when none is named")
    parser.add_argument("--write", action="store_true", help="write the sizes as those to compare with")
    options = parser.parse_args(argv)
    try:
        for name in options.block:
            check_block(name)
    except ToolError as error:
        complain(str(error))
        return EXIT_CONFIGURATION
    return exit_code(lambda: _run(options.block, options.write), "mapped blocks stay in the cache", "synth")


def _run(names: Sequence[str], write: bool) -> int:
    console = Console(emoji=False)
    blocks = [Block(name) for name in names or hardware()]
    found = each(console, blocks, lambda one: one.shown, measure)
    show(console, table(found))
    for one in found:
        if names and one.path:
            say(console, f"{one.block}: longest path: {' -> '.join(one.path)}")
        for line in one.messages:
            say(console, f"{one.block}: {line}")
    before = json.loads(SIZES.read_text(encoding="utf-8"))
    for line in compared(found, before):
        say(console, line)
    if write:
        sizes = {one.block: asdict(one.size) for one in found if one.size is not None}
        write_atomically(SIZES, json.dumps(({**before} if names else {}) | sizes, indent=1, sort_keys=True) + "\n")
    return 1 if any(one.messages for one in found) else 0


if __name__ == "__main__":
    sys.exit(main())
