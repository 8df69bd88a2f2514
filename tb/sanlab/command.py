"""Command `sanlab`: one subcommand for each make target. Runs in the tree.

Each subcommand is a module with its own command line, which gets the remaining arguments.
"""

from __future__ import annotations

import fcntl
import os
import runpy
import sys
from typing import NamedTuple

from pymodels.errors import EXIT_CONFIGURATION, ConfigError, nearest
from pymodels.roots import check
from tb.tools.paths import CHECKOUT, OUT, ROOT


class Command(NamedTuple):
    """Subcommand."""

    module: str
    does: str
    checkout: bool = False
    """True if the subcommand needs a checkout (tests and quality tools)."""
    single: bool = False
    """True if two instances would disturb each other: measurements, and work in folders with fixed names."""


COMMANDS = {
    "run": Command("tb.run", "run one study"),
    "studies": Command("tb.run.studies_list", "list the studies"),
    "new": Command("tb.sanlab.new", "write a new message layer, or a test of a cluster"),
    "cluster": Command("tb.plan.draw", "write the files of a regular cluster"),
    "test-cluster": Command("tb.cocotb_test.run", "run one cocotb test of a running cluster"),
    "timeline": Command("tb.report.timeline", "write the timeline of a run, for Perfetto"),
    "explain": Command("tb.ask.explain", "print the life of one message of a run"),
    "measure": Command("tb.ask.measure", "measure intervals between conditions in the waves of a run"),
    "compare": Command("tb.ask.compare", "show the changes between two results"),
    "sweep": Command("tb.sweep.run", "run one study at each point of some axes"),
    "fuzz": Command("tb.fuzz.run", "run fuzz tests of message layers"),
    "campaign": Command("tb.campaign.run", "inject single faults and classify their effects"),
    "explore": Command("tb.explore.run", "model-check a message layer in small configurations"),
    "figures": Command("tb.figures.run", "run every study and compare with published values"),
    "uncertainty": Command("tb.uncertainty.run", "compute how much figures depend on assumed values"),
    "calibrate": Command("tb.calibrate.run", "condition assumed values on published ones", checkout=True),
    "fidelity": Command("tb.figures.fidelity", "list the accuracy of every figure"),
    "costs": Command("pymodels.costs.compile", "count the instructions of compiled paths"),
    "firmware": Command("firmware.build", "compile the C firmware of a message layer"),
    "mpi4py": Command("tb.program.mpi.own_tests", "run mpi4py's own tests over the simulated MPI", single=True),
    "bench": Command("tb.bench.run", "measure the speed of the laboratory", single=True),
    "counts": Command("tb.bench.counts", "count the instructions a message", single=True),
    "docs": Command("tb.docs.build", "build the documentation site", checkout=True),
    "sim": Command("tb.run.block_bench", "run one block bench", checkout=True),
    "board": Command("tb.fpga.board", "make a bitstream for an FPGA board, or run its stand-in", checkout=True),
    "equivalence": Command("tb.fpga.equivalence", "prove netlists equal to their blocks", checkout=True),
    "netlist": Command("tb.fpga.netlist_run", "run block benches on netlists of their hardware", checkout=True),
    "lint": Command("tb.quality.lint", "run static checks of Python and HDL", checkout=True),
    "synth": Command("tb.fpga.synth", "map every block to cells of an FPGA, check and compare it", checkout=True),
    "pnr": Command("tb.fpga.pnr", "place and route blocks on an FPGA and report their clock rates", checkout=True),
    "mutants": Command(
        "tb.quality.mutate",
        "run mutation tests of the sources",
        checkout=True,
        single=True,
    ),
    "prove": Command("tb.quality.prove", "prove properties of blocks", checkout=True),
}
HELP = {"-h", "--help"}
INSIDE = {"query": Command("tb.sanlab.query", "answer queries of the library")}


def main() -> int:
    """Run the subcommand and return the exit code."""
    word = sys.argv[1] if len(sys.argv) > 1 else "--help"
    if word in HELP:
        print("usage: sanlab COMMAND ...; `sanlab COMMAND --help` shows its options\n")
        print("\n".join(f"  {name:11} {command.does}" for name, command in COMMANDS.items()))
        return 0
    command = {**COMMANDS, **INSIDE}.get(word)
    if command is None:
        return _refuse(f"sanlab: unknown command {word!r}: `sanlab --help` lists them; {nearest(word, COMMANDS)}")
    if command.checkout and not CHECKOUT:
        return _refuse(f"sanlab {word}: not a checkout: {ROOT} has no tests; clone sanlab, and run `make {word}`")
    try:
        check()
    except ConfigError as error:
        return _refuse(str(error))
    if command.single and not HELP & set(sys.argv) and (reason := _lock(word)):
        return _refuse(f"sanlab {word}: {reason}")
    del sys.argv[1]
    runpy.run_module(command.module, run_name="__main__", alter_sys=True)
    return 0


def _lock(word: str) -> str:
    """Lock a subcommand in this result folder until the process ends.

    Returns the reason for a failure, or an empty text.
    """
    try:
        OUT.mkdir(parents=True, exist_ok=True)
        lock = os.open(OUT / f".{word}.lock", os.O_CREAT | os.O_RDWR)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return f"already running in {OUT}; wait for its end, or name another folder with SANLAB_OUT"
    except OSError as error:
        return f"{OUT}: {error.strerror}; name a folder that can be written with SANLAB_OUT"
    return ""


def _refuse(text: str) -> int:
    print(text, file=sys.stderr)
    return EXIT_CONFIGURATION
