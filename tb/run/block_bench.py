"""Block benches: `python -m tb.run.block_bench NAME` runs one cocotb regression and shows cocotb's own table.

A bench is a TOML file in tests/block/benches with the keys `toplevel`, `module` (the cocotb test module),
`[parameters]`, `replace`, `filter` and `no_netlist`. `replace` lists files below tests/block/hdl that replace the
modules of their names; such a bench is not run on netlists (tb/fpga). `filter` is a regular expression; only tests
whose names it matches are run. `no_netlist` is a reason why another bench is not run on netlists.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from pymodels.errors import ConfigError, SanlabError, nearest
from pymodels.numerals import seed as seed_of
from pymodels.toml import read_toml
from tb.build.build import Design, build
from tb.build.store import damage, remove_damaged
from tb.run.simulate import Outcome, simulate
from tb.tools.ending import end_on_terminate
from tb.tools.paths import OUT, ROOT, SIMULATORS
from tb.tools.workplace import publish, workplace

BENCHES = ROOT / "tests" / "block" / "benches"
HDL = ROOT / "tests" / "block" / "hdl"
FILTER = "COCOTB_TEST_FILTER"
LEFT = ("results.xml", "sim.log", "waves.fst")
"""Names of the result files of a bench."""


@dataclass(frozen=True)
class Bench:
    """Block bench."""

    name: str
    module: str
    design: Design
    environment: Mapping[str, str]
    """Variables of cocotb that the user has not set."""
    no_netlist: str = ""
    """Reason why the bench is not run on netlists."""


def names() -> list[str]:
    """Return the names of all benches."""
    return sorted(path.stem for path in BENCHES.glob("*.toml"))


def load(name: str) -> Bench:
    """Read a bench. Raises ConfigError with the nearest name for an unknown bench, or for invalid TOML."""
    path = BENCHES / f"{name}.toml"
    if not path.exists():
        cause = "BENCH names a file of tests/block/benches"
        raise ConfigError("BENCH", 0, f"unknown bench {name!r}", cause, nearest(name, names()))
    data, _ = read_toml(path)
    replaced = {Path(file).name: (HDL / file).read_text("utf-8") for file in data.get("replace", ())}
    design = Design(data["toplevel"], data.get("parameters", {}), replaced)
    environment = {FILTER: data["filter"]} if "filter" in data and FILTER not in os.environ else {}
    model = f"a model stands in the place of hardware: {', '.join(replaced)}" if replaced else ""
    return Bench(name, data["module"], design, environment, data.get("no_netlist", model))


def run(name: str, simulator: str, seed: int = 1, waves: bool = False, echo: bool = False) -> Outcome:
    """Run a bench by name, see `run_bench`; results, log and waves go to sim_build/<bench>/<simulator>."""
    return run_bench(load(name), simulator, OUT / name / simulator, seed, waves, echo)


def run_bench(
    bench: Bench, simulator: str, folder: Path, seed: int = 1, waves: bool = False, echo: bool = False
) -> Outcome:
    """Build a bench if necessary and run it.

    Args:
        bench: Bench to run.
        simulator: Name of the simulator.
        folder: Folder for results, log and waves.
        seed: Seed of cocotb's random numbers.
        waves: True to write waves.
        echo: True to copy the log to the terminal.

    Raises:
        ToolError: The bench does not build.
    """
    made = build(bench.design, simulator, waves)
    with workplace(folder, LEFT) as work:
        outcome = simulate(made, bench.module, work, seed, waves, bench.environment, echo)
        if not outcome.tests and damage(made.folder, hashes=True):
            remove_damaged(made.folder)
            made = build(bench.design, simulator, waves)
            outcome = simulate(made, bench.module, work, seed, waves, bench.environment, echo)
        publish(work, folder)
    failures = [line.replace(str(work), str(folder)) for line in outcome.failures]
    return replace(outcome, failures=failures, log=folder / outcome.log.name)


def main(argv: list[str] | None = None) -> int:
    """Run the command `make sim`."""
    parser = argparse.ArgumentParser(prog="sanlab sim", description=__doc__)
    parser.add_argument("bench", nargs="?", help="one of: " + ", ".join(names()))
    parser.add_argument("--sim", default="verilator", help=" or ".join(SIMULATORS))
    parser.add_argument("--seed", default="1")
    parser.add_argument("--waves", action="store_true")
    options = parser.parse_args(argv)
    try:
        if not options.bench:
            remedy = f"type `make sim BENCH=<name>`; known: {', '.join(names())}"
            raise ConfigError("BENCH", 0, "no bench given", "`make sim` runs one block bench", remedy)
        outcome = run(options.bench, options.sim, seed_of(options.seed), options.waves, echo=True)
    except SanlabError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    folder = Path(os.path.relpath(outcome.log.parent))
    left = "results.xml, sim.log and waves.fst" if options.waves else "results.xml and sim.log"
    print(f"{outcome.tests} tests, {len(outcome.failures)} failed; {left} in {folder}")
    return 0 if outcome.passed else 1


if __name__ == "__main__":
    end_on_terminate()
    sys.exit(main())
