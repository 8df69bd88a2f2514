"""`make board`: the bitstream of a design for an ECP5 board, or with SIM=1 the stand-in board.

Usage: `python -m tb.fpga.board [--design NAME] [--slower N] BOARD`, or `--sim [--tcp PORT] [--seed N]`. A bitstream is
left in sim_build/board/<design>-<board>/, beside the report of place and route and the manifest `board.json`. The
manifest names what the bitstream holds. The steps are cached by content.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from pymodels.board.identity import Manifest
from pymodels.board.map import Clock
from tb.build.store import kept
from tb.fpga import board_sim, programs
from tb.fpga.board_design import DESIGNS, Design, find_design, identity, periods, settings
from tb.fpga.board_kinds import BOARDS, Board, clocking, find_board, pll_stub, top, top_name
from tb.fpga.board_sim import FILE, FOLDER, identity_digits
from tb.fpga.mapping import CELLS, READ, Block, worked
from tb.fpga.programs import PACKER, ROUTER
from tb.plan.provenance import commit
from tb.report.tables import Table
from tb.report.terminal import exit_code, say, show
from tb.tools.paths import ROOT
from tb.tools.programs import ToolError

NETLIST, CONFIGURATION, REPORT, BITSTREAM = "net.json", "board.config", "report.json", "board.bit"
CONSTRAINTS, PAGE = "board.lpf", "report.md"
SEED = 1
REMEDY = "choose a smaller DESIGN, or another board"
USED = ("TRELLIS_COMB", "TRELLIS_FF", "TRELLIS_RAMW", "DP16KD", "MULT18X18D", "EHXPLLL", "TRELLIS_IO")
"""Kinds of cells of nextpnr in the report."""
DEFAULT, SLOWER, MOST_SLOWER = "pair", 4, 5
"""Design and factor of the clocks without DESIGN and SLOWER, and largest factor (the PLL's dividers end there)."""


@dataclass(frozen=True)
class Made:
    """Bitstream of a design for a board.

    Attributes:
        folder: Folder with bitstream, report and manifest.
        rates: For each clock, the reached and the required rate in MHz.
        used: For each kind of cells, the used and the available number.
    """

    folder: Path
    rates: Mapping[str, tuple[float, float]]
    used: Mapping[str, tuple[int, int]]

    @property
    def late(self) -> list[str]:
        """Names of the clocks that the bitstream does not reach."""
        return [name for name, (reached, required) in self.rates.items() if reached < required]


def make(console: Console, board: Board, design: Design, slower: int) -> Made:
    """Return the bitstream of a design for a board; each step is done now if necessary.

    Args:
        console: Where progress is shown.
        board: The board.
        design: The design.
        slower: Factor by which NIC and link clock are slower than in the profile.

    Raises:
        ToolError: A tool is missing or fails, or a clock cannot be made.
    """
    made = identity(design, clocking(slower), top(board, design, slower, ""))
    text = top(board, design, slower, identity_digits(made))
    say(console, f"mapping {design.name} to cells of {board.title}; some minutes the first time", "dim")
    netlist = _mapped(board, design, text, pll_stub(board, design, slower))
    say(console, "placing, routing and packing; ten minutes or more the first time", "dim")
    routed = _routed(board, netlist, lambda step: say(console, f"  {step}", "dim"))
    folder = FOLDER / f"{design.name}-{board.name}"
    folder.mkdir(parents=True, exist_ok=True)
    for name in (REPORT, BITSTREAM, programs.LOG):
        shutil.copy(routed / name, folder / name)
    (folder / f"{top_name(board)}.sv").write_text(text, encoding="utf-8")
    times = periods(design, clocking(slower).bus_hz)
    Manifest(
        name=design.name,
        board=board.name,
        profile=design.profile,
        settings={setting.name: value for setting, value in settings(design).items()},
        periods={clock.name: times[clock] for clock in Clock},
        commit=commit(ROOT),
        identity=made,
    ).save(folder / FILE)
    report = json.loads((folder / REPORT).read_text(encoding="utf-8"))
    result = Made(folder, _rates(report), _used(report))
    (folder / PAGE).write_text(_page(board, design, slower, result), encoding="utf-8")
    return result


def _mapped(board: Board, design: Design, text: str, stub: str) -> Path:
    """Return the folder with the netlist of a board's top."""
    block, name = Block(design.module), top_name(board)
    given = {f"{name}.sv": text, "pll.sv": stub}
    files = " ".join([*(path.name for path in block.files), *given])
    script = READ.format(top=name, parameters="", files=files)
    return worked("board", block, f"{script}synth_ecp5 -abc9 -top {name} -json {NETLIST}\n", given)


def _routed(board: Board, netlist: Path, progress: Callable[[str], None]) -> Path:
    """Return the folder with the report, the log and the bitstream of a netlist."""
    arguments = [board.device, "--package", board.package, "--speed", board.speed, "--json", NETLIST]
    arguments += ["--lpf", CONSTRAINTS, "--textcfg", CONFIGURATION, "--report", REPORT, "--seed", str(SEED)]
    # Within an hour, router1 has no result for two nodes; router2 takes ten minutes.
    arguments += ["--timing-allow-fail", "--quiet", "--router", "router2"]
    constraints = board.constraints.read_text(encoding="utf-8")
    given = (netlist.name, constraints, arguments, programs.versions(ROUTER))
    digest = hashlib.sha256(repr(given).encode()).hexdigest()[:16]

    def work(folder: Path) -> None:
        shutil.copy(netlist / NETLIST, folder)
        (folder / CONSTRAINTS).write_text(constraints, encoding="utf-8")
        programs.make(folder, ROUTER, [*arguments, "--log", programs.LOG], REPORT, REMEDY, progress)
        programs.make(folder, PACKER, ["--compress", CONFIGURATION, BITSTREAM], BITSTREAM, REMEDY)
        for name in (NETLIST, CONFIGURATION):
            (folder / name).unlink()

    return kept(f"board-{board.name}-{digest}", work)[0]


def _rates(report: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
    found = {}
    for net, one in report["fmax"].items():
        name = next((clock.name for clock in Clock if f"{clock.name.lower()}_clk" in net), net)
        found[name] = round(float(one["achieved"]), 1), round(float(one["constraint"]), 1)
    return dict(sorted(found.items()))


def _used(report: Mapping[str, Any]) -> dict[str, tuple[int, int]]:
    found = report["utilization"]
    return {kind: (int(found[kind]["used"]), int(found[kind]["available"])) for kind in USED if kind in found}


def tables(made: Made) -> tuple[Table, Table]:
    """Return the tables of clock rates and of used cells."""
    rates = [(name, f"{reached:.1f}", f"{required:.1f}") for name, (reached, required) in made.rates.items()]
    used = [(kind, str(n), str(of), f"{100 * n / of:.0f} %") for kind, (n, of) in made.used.items()]
    return (
        Table(("clock", "reached MHz", "required MHz"), tuple(rates)),
        Table(("cells", "used", "available", "share"), tuple(used)),
    )


def _page(board: Board, design: Design, slower: int, made: Made) -> str:
    lines = [f"# {design.name} on a {board.title}", "", f"Profile {design.profile}, NIC and link clock 1/{slower}.", ""]
    for table in tables(made):
        lines += [f"| {' | '.join(table.headings)} |", "|" + "---|" * len(table.headings)]
        lines += [*(f"| {' | '.join(row)} |" for row in table.rows), ""]
    lines += [f"Load the bitstream: `{board.load} {BITSTREAM}`", ""]
    return "\n".join(lines)


def _simulate(console: Console, design: Design, given: argparse.Namespace) -> int:
    """Run the stand-in of a design until it is interrupted, and return its exit code."""
    say(console, f"building the stand-in of {design.name}; some minutes the first time", "dim")
    options = ["--with-parent", "--seed", str(given.seed), *(board_sim.RELATED if given.related else [])]
    options += [] if given.tcp is None else ["--tcp", str(given.tcp)]
    command = board_sim.command_line(design, board_sim.manifest(design).identity, options)
    folder = board_sim.save_manifest(design)
    say(console, f"manifest: {folder / FILE}; the port of the board is:", "dim")
    return subprocess.run(command, check=False).returncode


def _make(console: Console, board: Board, design: Design, slower: int) -> int:
    """Make a bitstream, show its report, and return the exit code."""
    made = make(console, board, design, slower)
    for table in tables(made):
        show(console, table)
    say(console, f"{made.folder / BITSTREAM}: load it with `{board.load}`")
    if made.late:
        worst = max(required / reached for reached, required in made.rates.values())
        cause = f"{', '.join(made.late)} is slower than required by a factor of up to {worst:.2f}"
        raise ToolError("the bitstream misses its clocks", cause, f"use SLOWER={slower + 1} or more")
    return 0


def main(argv: list[str] | None = None) -> int:
    """Run the command `make board` and return the exit code."""
    parser = argparse.ArgumentParser(prog="sanlab board", description=__doc__)
    parser.add_argument("board", nargs="?", default="", help=", ".join(BOARDS))
    parser.add_argument("--design", default="", help=f"{', '.join(DESIGNS)} ({DEFAULT})")
    parser.add_argument("--slower", default="", help="NIC and link clock: a fraction of the profile's (4)")
    parser.add_argument("--sim", action="store_true", help="run the stand-in board instead")
    parser.add_argument("--tcp", type=int, help="TCP port of the stand-in, 0 for any; without it a pseudo-terminal")
    parser.add_argument("--netlist", default="", help=f"--sim: NICs and switch as netlists; {' or '.join(CELLS)}")
    parser.add_argument("--related", action="store_true", help="--sim: clocks of one root, without jitter")
    parser.add_argument("--seed", type=int, default=1, help="seed of the stand-in's clocks (1)")
    given = parser.parse_args(argv)
    return exit_code(lambda: _run(given), "finished steps stay in the cache", "board")


def _run(given: argparse.Namespace) -> int:
    console = Console(emoji=False)
    design = find_design(given.design or DEFAULT)
    if given.sim:
        content = board_sim.with_netlists(design, given.netlist) if given.netlist else design
        return _simulate(console, content, given)
    return _make(console, find_board(given.board), design, _slower(given.slower))


def _slower(text: str) -> int:
    if not text:
        return SLOWER
    if not text.isdigit() or not 1 <= int(text) <= MOST_SLOWER:
        raise ToolError(f"SLOWER={text}", "not a factor", f"give a whole number from 1 to {MOST_SLOWER}")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
