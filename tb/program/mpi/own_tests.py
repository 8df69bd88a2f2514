"""`python -m tb.program.mpi.own_tests [MODULE ...]`: mpi4py's own tests over the simulated MPI.

pip downloads the source distribution of the installed version into `sim_build/mpi4py` if necessary. Each module is a
run of the study `program`. A test counts as passed if it passed on every rank. The exit code is 1 if a test did not
pass or a run failed.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tarfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

from pymodels.numerals import argument
from tb.plan.options import stack_options
from tb.tools.paths import OUT, ROOT

POINT_TO_POINT = ("test_p2p_obj", "test_p2p_obj_matched", "test_p2p_buf", "test_p2p_buf_matched")
COLLECTIVES = ("test_cco_obj", "test_cco_buf", "test_cco_vec")
REST = ("test_group", "test_status", "test_request", "test_op", "test_msgzero", "test_environ", "test_errorcode")
MODULES = (*POINT_TO_POINT, *COLLECTIVES, *REST, "test_info", "test_address", "test_mpimem")
"""Test modules run by default."""
FOLDER = OUT / "mpi4py"
NOT_FINISHED = "not finished"
RAN = re.compile(r"^Ran (\d+) tests?", re.MULTILINE)
NOT_PASSED = re.compile(r"(failures|errors|skipped)=(\d+)")


def tests() -> Path:
    """Return the folder of the tests, downloaded if necessary."""
    name = f"mpi4py-{version('mpi4py')}"
    archive = FOLDER / f"{name}.tar.gz"
    if not archive.exists():
        words = ["pip", "download", "--no-deps", "--no-binary", "mpi4py", name.replace("-", "=="), "-d", str(FOLDER)]
        subprocess.run([sys.executable, "-m", *words], check=True, capture_output=True)
    if not (FOLDER / name).is_dir():
        with tarfile.open(archive) as packed:
            packed.extractall(FOLDER, filter="data")
    return FOLDER / name / "test"


def counts(said: str) -> dict[str, int] | None:
    """Return test counts by outcome from unittest's output; None if unittest did not finish or ran no test."""
    ran = RAN.search(said)
    if not ran or ran[1] == "0":
        return None
    found = {name: int(number) for name, number in NOT_PASSED.findall(said)}
    return {"passed": int(ran[1]) - sum(found.values()), **found}


def together(ranks: Sequence[dict[str, int] | None]) -> dict[str, int] | None:
    """Return the counts over all ranks; a test has passed if it passed on every rank.

    The result is None if a rank did not finish or ran another number of tests.
    """
    there = [one for one in ranks if one is not None]
    totals = {sum(one.values()) for one in there}
    if len(there) < len(ranks) or len(totals) != 1:
        return None
    worst = {name: max(one.get(name, 0) for one in there) for one in there for name in one if name != "passed"}
    return {"passed": max(totals.pop() - sum(worst.values()), 0), **worst}


def judged(found: dict[str, int] | None, exit_code: int) -> dict[str, int]:
    """Return the counts of a run; a failed run without a failed test counts as a failure."""
    if found is None:
        return {NOT_FINISHED: 1}
    if exit_code and not found.keys() & {"failures", "errors"}:
        return {**found, f"run ended with code {exit_code}": 1}
    return found


def run(module: str, folder: Path, how: argparse.Namespace) -> dict[str, int]:
    """Run the tests of one module and return their counts."""
    command = f"{sys.executable} {folder / 'main.py'} -v -f --no-numpy -i {module}[.]"
    out = FOLDER / "runs" / module
    settings = f'--set=command="{command}" run.trace=0 ranks={how.ranks} mpi.on={how.on}'
    words = [settings, f"--cluster={how.cluster}", f"--profile={how.profile}", f"--out={out}", "--", "program"]
    done = subprocess.run(
        [sys.executable, "-m", "tb.sanlab", "run", *words], cwd=ROOT, capture_output=True, check=False
    )
    if done.returncode not in (0, 1):  # no run: the folder has the results of an earlier run
        return judged(None, done.returncode)
    told = [out / f"program-{rank}.txt" for rank in range(how.ranks)]
    said = [counts(one.read_text(encoding="utf-8")) if one.exists() else None for one in told]
    return judged(together(said), done.returncode)


def arguments(words: Sequence[str]) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="own_tests", description="Run mpi4py's own tests over the simulated MPI.")
    parser.add_argument("modules", nargs="*", default=MODULES, metavar="MODULE", help="test modules of mpi4py")
    parser.add_argument("--ranks", type=argument(1, 1024), default=2, help="programs, one a host")
    parser.add_argument("--on", default=str(stack_options("mpi")["mpi.on"].default), help="layer below MPI")
    parser.add_argument("--cluster", default="", help="cluster with enough hosts (default: two_hosts)")
    parser.add_argument("--profile", default="", help="hardware profile, as for `make run`")
    parser.add_argument("--record", type=Path, help="JSON file to which the counts are added")
    return parser.parse_args(words)


def record(path: Path, how: argparse.Namespace, modules: Mapping[str, Mapping[str, int]]) -> None:
    """Add counts to a JSON file, by ranks and layer."""
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    kept[f"{how.ranks} ranks over {how.on}"] = {
        "mpi4py": version("mpi4py"),
        "modules": modules,
        "all": summed(modules.values()),
    }
    path.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def summed(several: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Return the sums of counts."""
    sums: Counter[str] = Counter()
    for one in several:
        sums.update(one)
    return dict(sums)


def main(words: Sequence[str]) -> int:
    """Run the modules, print the counts and their sums, and return the exit code."""
    how, found = arguments(words), {}
    for module in how.modules:
        found[module] = run(module, tests(), how)
        print(f"{module}: {_shown(found[module])}", flush=True)
    if how.record:
        record(how.record, how, found)
    sums = summed(found.values())
    print(f"all: {_shown(sums)}")
    return int(bool(sums.keys() - {"passed", "skipped"}))


def _shown(found: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {name}" for name, number in found.items())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
