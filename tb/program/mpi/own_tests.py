"""`python -m tb.program.mpi.own_tests [MODULE ...]`: mpi4py's own tests over the simulated MPI, two ranks.

The source distribution of the installed version is fetched by pip, into `sim_build/mpi4py`, unless it is there. Each
module is a run of the study `program`; what its tests say on rank 0 is counted. Exit code 1 when one did not pass.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
from importlib.metadata import version
from pathlib import Path

from tb.tools.paths import OUT, ROOT

POINT_TO_POINT = ("test_p2p_obj", "test_p2p_obj_matched", "test_p2p_buf", "test_p2p_buf_matched")
COLLECTIVES = ("test_cco_obj", "test_cco_buf", "test_cco_vec")
REST = ("test_group", "test_status", "test_request", "test_op", "test_msgzero", "test_environ", "test_errorcode")
MODULES = (*POINT_TO_POINT, *COLLECTIVES, *REST, "test_info", "test_address", "test_mpimem")
"""Those that are run where nobody says which."""
FOLDER = OUT / "mpi4py"
RAN = re.compile(r"^Ran (\d+) tests?", re.MULTILINE)
NOT_PASSED = re.compile(r"(failures|errors|skipped)=(\d+)")


def tests() -> Path:
    """The folder of the tests, fetched if it is not there."""
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
    """Tests by how they ended, of what unittest has printed; None: it did not come to its end, or ran none."""
    ran = RAN.search(said)
    if not ran or ran[1] == "0":
        return None
    found = {name: int(number) for name, number in NOT_PASSED.findall(said)}
    return {"passed": int(ran[1]) - sum(found.values()), **found}


def run(module: str, folder: Path) -> dict[str, int] | None:
    """The tests of one module."""
    command = f"{sys.executable} {folder / 'main.py'} -v -f --no-numpy -i {module}[.]"
    words = [sys.executable, "-m", "tb.sanlab", "run", f'--set=command="{command}" run.trace=0', "--", "program"]
    subprocess.run(words, cwd=ROOT, capture_output=True, check=False)
    told = OUT / "program" / "program-0.txt"
    return counts(told.read_text(encoding="utf-8")) if told.exists() else None


def main(modules: list[str]) -> int:
    """Run modules, a line each, and print the sums; the exit code."""
    sums: dict[str, int] = {}
    for module in modules or MODULES:
        found = run(module, tests()) or {"not finished": 1}
        print(f"{module}: " + ", ".join(f"{number} {name}" for name, number in found.items()), flush=True)
        for name, number in found.items():
            sums[name] = sums.get(name, 0) + number
    print("all: " + ", ".join(f"{number} {name}" for name, number in sums.items()))
    return int(any(name not in ("passed", "skipped") for name in sums))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
