"""Stand-in for a board: a design in Verilator with unrelated, jittering clocks, in a process behind a port.

`make board SIM=1` builds it, leaves its manifest in sim_build/board/<name>-sim/board.json, prints the name of its port,
and runs it until it is interrupted. With NETLIST, NICs and switch are netlists, and the folder is <name>-netlist. Tests
start it with `start`.
"""

from __future__ import annotations

import hashlib
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from pymodels.board.identity import NETLIST, Identity, Manifest
from pymodels.board.map import Clock
from tb.build import compilers
from tb.build.build import Design as HdlDesign
from tb.build.build import needed_files
from tb.build.store import kept_by_sources
from tb.fpga.board_design import NICS, Clocking, Design, identity, instance, periods, settings
from tb.fpga.mapping import Block, check_cells
from tb.fpga.netlist import modules
from tb.plan.provenance import commit
from tb.tools import programs
from tb.tools.paths import OUT, ROOT
from tb.tools.plain import plain
from tb.tools.programs import ToolError

SOURCE = ROOT / "tb" / "fpga" / "standin.cpp"
TOP = "board_sim"
FOLDER = OUT / "board"
"""Folder of all designs that were made, one folder each with its `board.json`."""
FILE = "board.json"
CLOCKING = Clocking(bus_hz=100_000_000, slower=1, divisor=4, timeout=900_000)
"""Clocks of the stand-in. Simulated time costs seconds, and an idle link costs most of it. A fast bus clock and the
smallest divisor therefore give a serial line of 25 Mbit/s. The time-out is some 2 s of a PC that is interrupted
in the middle of a command."""
JITTER_PERCENT, PPM = 10.0, 50
RELATED = ["--jitter", "0", "--ppm", "0"]
"""Options of the stand-in for clocks of one root."""
NETLISTS = (Block("myri_nic4"), Block("myri_switch", {"PORTS": 4}))
"""Blocks that are netlists in such a stand-in; processors and memories stay RTL, since they take most of the time."""
VERILATE = ("--cc", "--exe", "--build", "-O3", "--x-assign", "fast", "--x-initial", "fast", "--noassert", "--no-timing")
QUIET = ("-Wno-fatal", "-Wno-lint", "-Wno-style", *compilers.STRICT)
MAKE = ("OPT_FAST=-O1", "OPT_SLOW=-O0", "OPT_GLOBAL=-O2")
"""Options of Verilator, and of the makefile that it writes. Higher optimisation takes minutes and gains little."""


@dataclass(frozen=True)
class StandIn:
    """Running stand-in board.

    Attributes:
        port: Name of its port, as `run.port` takes it.
        manifest: Its manifest.
        folder: Folder of the manifest.
        process: Its process.
    """

    port: str
    manifest: Manifest
    folder: Path
    process: subprocess.Popen[str]

    def press_reset(self) -> None:
        """Press the reset button of the board."""
        self.process.send_signal(signal.SIGUSR1)


def with_netlists(design: Design, cells: str) -> Design:
    """Return a design whose stand-in has netlists of its NICs and switch.

    Args:
        design: A design with NICs.
        cells: Kind of cells; 1 for generic cells.

    Raises:
        ConfigError: Unknown cells.
        ToolError: The design has no NIC.
    """
    kind = "generic" if cells == "1" else cells
    check_cells(kind)
    if design.module != NICS:
        raise ToolError(f"NETLIST with DESIGN={design.name}", "the design has no NIC", "use DESIGN=pair")
    return replace(design, cells=kind)


def wrapper(design: Design) -> str:
    """Return the top of the stand-in: the generic top with the settings of the design as constants."""
    pins = {name: name for name in ("arst_n", "bus_clk", "nic_clk", "link_clk", "rxd", "txd", "led", "identity")}
    note = f"// NICs and switch are netlists of {design.cells} cells.\n" if design.cells else ""
    return (
        f"{note}module {TOP} (\n"
        "    input logic arst_n,\n    input logic bus_clk,\n    input logic nic_clk,\n    input logic link_clk,\n"
        "    input logic rxd,\n    output logic txd,\n    output logic [7:0] led,\n"
        "    input logic [255:0] identity\n);\n"
        f"{instance(design, CLOCKING, pins)}endmodule\n"
    )


def manifest(design: Design) -> Manifest:
    """Return the manifest of the stand-in of a design."""
    times = periods(design, CLOCKING.bus_hz)
    return Manifest(
        name=design.name,
        board=NETLIST if design.cells else "sim",
        profile=design.profile,
        settings={setting.name: value for setting, value in settings(design).items()},
        periods={clock.name: times[clock] for clock in Clock},
        commit=commit(ROOT),
        identity=identity(design, CLOCKING, wrapper(design)),
    )


def program(design: Design) -> Path:
    """Return the program of the stand-in of a design, built now if necessary. Raises ToolError."""
    programs.check_compilers()
    made = modules(NETLISTS, design.cells) if design.cells else {}
    files = [path for path in needed_files(HdlDesign(design.module)) if path.name not in made]
    texts = {**made, f"{TOP}.sv": wrapper(design)}
    given = (wrapper(design), programs.verilator().version, VERILATE, QUIET, MAKE, *made.items())

    def name() -> str:
        digest = hashlib.sha256(repr(given).encode())
        for path in [*files, SOURCE]:
            digest.update(path.name.encode() + path.read_bytes())
        return f"standin-{design.name}-{digest.hexdigest()[:16]}"

    folder, _ = kept_by_sources(name, lambda scratch: _build(files, texts, scratch))
    return folder / "standin"


def _build(files: Sequence[Path], texts: Mapping[str, str], folder: Path) -> None:
    tool = programs.verilator()
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    command = [tool.binary, *VERILATE, *QUIET, "-j", "2", "--timescale", "1ps/1ps", "-DSYNTHESIS", "--top-module", TOP]
    command += ["-Mdir", "obj", "-CFLAGS", "-std=gnu++20", "-MAKEFLAGS", shlex.join([*compilers.MAKE_FLAGS, *MAKE])]
    command += [*map(str, map(plain, files)), *texts, str(plain(SOURCE))]
    compilers.run_tool(command, folder, "building the stand-in board", {"VERILATOR_ROOT": str(tool.root)})
    (folder / "obj" / f"V{TOP}").rename(folder / "standin")
    shutil.rmtree(folder / "obj")


def identity_digits(made: Identity) -> str:
    """Return the board_identity_t of an identity as hexadecimal digits."""
    return made.hash + "".join(f"{word:08x}" for word in (made.bus_hz, made.nic_hz, made.link_hz, made.baud))


def command_line(design: Design, reported: Identity, options: Sequence[str] = ()) -> list[str]:
    """Return the command that runs the stand-in of a design.

    Args:
        design: The design.
        reported: The identity that the board reports; another one than that of the manifest is an older bitstream.
        options: Further options of the program.
    """
    times = periods(design, CLOCKING.bus_hz)
    words = [str(program(design)), "--clocks", *(str(times[clock]) for clock in Clock)]
    words += ["--divisor", str(CLOCKING.divisor), "--identity", identity_digits(reported)]
    return [*words, "--jitter", str(JITTER_PERCENT), "--ppm", str(PPM), *options]


def save_manifest(design: Design) -> Path:
    """Write the manifest of the stand-in of a design and return its folder."""
    made = manifest(design)
    folder = FOLDER / f"{made.name}-{made.board}"
    folder.mkdir(parents=True, exist_ok=True)
    made.save(folder / FILE)
    return folder


@contextmanager
def start(
    design: Design, seed: int = 1, tcp: int | None = None, reported: Identity | None = None, related: bool = False
) -> Iterator[StandIn]:
    """Run the stand-in of a design in a process of its own until the context ends.

    Args:
        design: The design.
        seed: Seed of phases, frequencies and jitter of the clocks.
        tcp: TCP port to listen on, 0 for any free one; None for a pseudo-terminal.
        reported: Identity that the board reports; None for that of the manifest.
        related: True for clocks of one root, without jitter.

    Raises:
        ToolError: The build fails, or the program ends at once.
    """
    made = manifest(design)
    folder = save_manifest(design)
    options = ["--seed", str(seed), "--with-parent", *([] if tcp is None else ["--tcp", str(tcp)])]
    options += RELATED if related else []
    command = command_line(design, reported or made.identity, options)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8")
    try:
        port = process.stdout.readline().strip() if process.stdout else ""
        if not port:
            raise ToolError("the stand-in board ended", f"exit code {process.wait()}", "see its message above")
        yield StandIn(port, made, folder, process)
    finally:
        process.kill()
        process.wait()
