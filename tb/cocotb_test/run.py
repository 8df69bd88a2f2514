"""Command `sanlab test-cluster FILE TEST`: build a test file's cluster, and run one of its cocotb tests.

Each test has a simulator process of its own, because a cluster starts once in a simulation. `pytest FILE` runs this
command for every test of the file.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

from pymodels.errors import ConfigError
from pymodels.numerals import seed as seed_of
from tb.build.build import Build, build
from tb.cocotb_test.built import VARIABLE, Built, Wanted, design_of, plan_of, study_of
from tb.cocotb_test.declared import read
from tb.cocotb_test.public import find, save, with_names, with_public
from tb.report.junit import FILE as CASES
from tb.report.junit import set_error
from tb.report.terminal import complain, exit_code
from tb.run.block_bench import FILTER
from tb.run.command import OF_COCOTB
from tb.run.simulate import Outcome, simulate
from tb.tools.ending import end_on_terminate
from tb.tools.paths import OUT, ROOT, SIMULATORS
from tb.tools.workplace import publish, workplace

LEFT = ("*.json", "*.npy", "*.parquet", "*.pcapng", "*.lua", "*.txt", "*.xml", "sim.log", "waves.fst")
"""Patterns of the files that a test leaves."""
REWRITE = "COCOTB_REWRITE_ASSERTION_FILES"


def run(file: Path, test: str, simulator: str, seed: int = 1, waves: bool = False, out: Path | None = None) -> Outcome:
    """Run one test of a file and publish what it leaves.

    Args:
        file: Test file.
        test: Name of the test.
        simulator: Name of the simulator.
        seed: Seed of the run.
        waves: True to write waves.
        out: Folder of the results; by default one a file, simulator and test in the results' folder.

    Raises:
        SanlabError: An invalid declaration, or a design that does not build.
    """
    declared = read(file)
    folder = out or OUT / "cluster_tests" / file.stem / simulator / re.sub(r"[^\w=.-]", "_", test)
    built = Built(
        test, simulator, seed, str(folder), declared.cluster, declared.profile, declared.monitors, waves=waves
    )
    understood = plan_of(built, Wanted(), study_of(test, ""))
    design, names = design_of(understood), list[str]()
    if declared.public:
        design = with_names(design, understood)
        found = find(design, understood)
        names = list(found.paths)
        design, public = with_public(design, found, declared.public, str(file))
        built = replace(built, public=public)
    made = build(design, simulator, waves, public=bool(declared.public))
    with workplace(folder, LEFT) as work:
        save(work, names)
        outcome = _reported(_simulated(made, file, replace(built, folder=str(work))), work / CASES, test)
        publish(work, folder)
    failures = [line.replace(str(work), str(folder)) for line in outcome.failures]
    return replace(outcome, failures=failures, log=folder / outcome.log.name)


def _reported(outcome: Outcome, cases: Path, test: str) -> Outcome:
    """Complete `results.xml` of a failed test, and return its outcome with what a killed simulator waited for."""
    if outcome.passed:
        return outcome
    set_error(cases, test, "SimulatorError", "; ".join(outcome.failures))
    if outcome.tests:
        return outcome
    problems = [problem for tag in ("error", "failure") for problem in ET.parse(cases).iter(tag)]
    return replace(outcome, failures=[f"{test}: {problem.get('message', '')}" for problem in problems])


def _simulated(made: Build, file: Path, built: Built) -> Outcome:
    root, module = _module(file)
    work = Path(built.folder)
    built.save()
    path = os.pathsep.join([str(ROOT), str(root), *filter(None, [os.environ.get("PYTHONPATH")])])
    env = {VARIABLE: built.folder, FILTER: f"^{re.escape(module)}\\.{re.escape(built.test)}$", "PYTHONPATH": path}
    env[REWRITE] = file.name
    return simulate(made, module, work, built.seed, built.waves, env, study=file.parent, results=OF_COCOTB)


def _module(file: Path) -> tuple[Path, str]:
    """Return the folder of a test file's top package, and the name of its module."""
    names, folder = [file.stem], file.resolve().parent
    while (folder / "__init__.py").exists():
        names.insert(0, folder.name)
        folder = folder.parent
    return folder, ".".join(names)


def main(words: list[str]) -> int:
    """Run one test and return the exit code."""
    parser = argparse.ArgumentParser(prog="sanlab test-cluster", description=__doc__)
    parser.add_argument("file", type=Path, help="test file")
    parser.add_argument("test", help="name of a test in it")
    parser.add_argument("--sim", default="verilator", choices=SIMULATORS)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--waves", action="store_true")
    parser.add_argument("--out", type=Path, help="folder for the results")
    given = parser.parse_args(words)
    out = given.out.resolve() if given.out else None
    outcome = run(given.file.resolve(), given.test, given.sim, seed_of(given.seed), given.waves, out)
    if not outcome.tests and outcome.passed:
        raise ConfigError(str(given.file), 0, "unknown test", f"no test {given.test!r}", "see `pytest --collect-only`")
    for failure in outcome.failures:
        complain(failure)
    print(f"{'passed' if outcome.passed else 'FAILED'}; results in {os.path.relpath(outcome.log.parent)}")
    return 0 if outcome.passed else 1


if __name__ == "__main__":
    end_on_terminate()
    sys.exit(exit_code(lambda: main(sys.argv[1:]), "this test left no results"))
