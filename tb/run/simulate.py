"""Execution of a build: one simulator process with cocotb's test module."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO
from xml.etree import ElementTree as ET

from tb.build.build import Build
from tb.run import debugger
from tb.tools import programs
from tb.tools.lines import dumped_at
from tb.tools.paths import ROOT
from tb.tools.plain import plain

REWRITE, TESTS = "COCOTB_REWRITE_ASSERTION_FILES", "tests/*.py"
"""Modules whose asserts are rewritten for better messages: those of the tests. cocotb's default, all imported modules,
takes a third of a short run.
"""

OF_COCOTB = re.compile(r"(COCOTB|GPI|PYGPI)_|(RANDOM_SEED|COVERAGE|COVERAGE_RCFILE|MODULE|TESTCASE|TOPLEVEL)$")
"""Environment variables of cocotb, also of earlier versions. Those of the caller may belong to another project; a
filter of tests, for example, would exclude the study.
"""
KEPT = (
    "COCOTB_ANSI_OUTPUT",
    "COCOTB_LOG_LEVEL",
    "COCOTB_MAX_FAILURES",
    "COCOTB_PDB_ON_EXCEPTION",
    "COCOTB_RESOLVE_X",
    "COCOTB_SCHEDULER_DEBUG",
    "COCOTB_TESTCASE",
    "COCOTB_TEST_FILTER",
    "GPI_LOG_LEVEL",
)
"""Variables that a user may set for a block bench."""
FIRST_CALL = "SANLAB_FIRST_CALL"
"""Environment variable with the function that the Python of a bench calls first."""
USERS, BEGIN = "PYGPI_USERS", "tb.run.begin:begin"
"""Function that the simulator's Python calls first in a study."""


@dataclass(frozen=True)
class Outcome:
    """Outcome of a run."""

    passed: bool
    tests: int
    failures: list[str]
    """Name and message of each failed test."""
    log: Path
    apart: tuple[str, ...] = ()
    """Name of each test that was set apart (tests/block/netlists.py)."""


def simulate(
    build: Build,
    module: str,
    folder: Path,
    seed: int = 1,
    waves: bool = False,
    env: Mapping[str, str] | None = None,
    echo: bool = False,
    timeout_s: float | None = None,
    pass_fds: tuple[int, ...] = (),
    window_ps: tuple[int, int | None] = (0, None),
    under: tuple[str, ...] = (),
    study: Path | None = None,
    results: str = "results.xml",
) -> Outcome:
    """Run a test module on a build. The simulator never outlives the call.

    Args:
        build: Build to run.
        module: Cocotb test module.
        folder: Folder for results, log and waves; files of an earlier run are removed first.
        seed: Seed of cocotb's random numbers.
        waves: True to write waves.
        env: Further environment variables.
        echo: True to copy the log to the terminal.
        timeout_s: Maximum wall time in s.
        pass_fds: File descriptors for the simulator.
        window_ps: Begin and end of the waves in ps; None: end of the run.
        under: Program, with its arguments, that executes the simulator.
        study: Folder of the study, to find the line at which the simulator died.
        results: Name of cocotb's result file in `folder`.

    Raises:
        subprocess.TimeoutExpired: The run takes more than `timeout_s`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written, log = folder / results, folder / "sim.log"
    for stale in (written, folder / "waves.fst", folder / "waves.fst.hier"):
        stale.unlink(missing_ok=True)
    command = [*under, *_command(build, folder, waves, window_ps)]
    environment = _environment(build, module, seed, written, env)
    with log.open("w", encoding="utf-8") as out:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE if echo else out,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            pass_fds=pass_fds,
        )
        code = _wait(process, out, timeout_s)
    return _outcome(written, log, code, study)


def _wait(process: subprocess.Popen[str], log: TextIO, timeout_s: float | None) -> int:
    """Return the exit code of the simulator; copy its output to log and terminal. The simulator is killed
    with this process.
    """
    try:
        for line in process.stdout or ():
            sys.stdout.write(line)
            log.write(line)
        return process.wait(timeout_s)
    except BaseException:
        process.kill()
        process.wait()
        raise


def _command(build: Build, folder: Path, waves: bool, window_ps: tuple[int, int | None]) -> list[str]:
    window = [(name, time) for name, time in zip(("from", "to"), window_ps, strict=True) if waves and time is not None]
    if build.simulator == "verilator":
        words = [word for name, time in window for word in (f"--{name}", str(time))]
        return [str(build.folder / "obj" / "Vtop"), *(["--waves", str(folder / "waves.fst")] if waves else []), *words]
    lib = programs.cocotb_libs() / "libcocotbvpi_icarus.so"
    modules = ["-M", str(build.folder), "-m", "doorway", "-m", str(lib)]
    words = [f"+{name}={time}" for name, time in window]
    return ["vvp", "-n", *modules, str(build.folder / "top.vvp"), *(["-fst"] if waves else []), *words]


def _environment(
    build: Build, module: str, seed: int, results: Path, extra: Mapping[str, str] | None
) -> dict[str, str]:
    bench = not module.startswith("tb.")
    env = {name: value for name, value in os.environ.items() if not OF_COCOTB.match(name) or (bench and name in KEPT)}
    env.update({REWRITE: TESTS} if bench else {REWRITE: "", USERS: BEGIN})
    if bench and FIRST_CALL in env:
        env[USERS] = env[FIRST_CALL]
    libraries = (str(build.folder), str(programs.cocotb_libs()))  # a build may be from another checkout
    env.update(
        COCOTB_TEST_MODULES=module,
        COCOTB_TOPLEVEL=build.top,
        TOPLEVEL_LANG="verilog",
        COCOTB_RESULTS_FILE=str(results),
        COCOTB_RANDOM_SEED=str(seed),
        PYGPI_PYTHON_BIN=sys.executable,
        GPI_USERS=programs.gpi_users(),
        PYTHONPATH=os.pathsep.join([str(plain(ROOT)), *_set_already("PYTHONPATH")]),
        SANLAB_DOORWAY=str(build.folder / "libdoorway.so"),
        LD_LIBRARY_PATH=os.pathsep.join([*libraries, *_set_already("LD_LIBRARY_PATH")]),
        PYTHONBREAKPOINT=os.environ.get(debugger.HOOK) or debugger.STOP,
        NO_COLOR="1",
        OPENBLAS_NUM_THREADS="1",  # numpy's idle threads would compete with the simulator
    )
    env.update(extra or {})
    return env


def _set_already(name: str) -> list[str]:
    """Return the value of an environment variable as a list; empty if unset."""
    return [value] if (value := os.environ.get(name)) else []


def how_it_ended(code: int) -> str:
    """Return the end of a process as text: its exit code, or the signal that killed it."""
    if code >= 0:
        return f"exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    more = ", by a user or by the kernel for lack of memory" if -code == signal.SIGKILL else ""
    return f"killed by {name}{more}"


def _outcome(results: Path, log: Path, code: int, study: Path | None = None) -> Outcome:
    failures: list[str] = []
    apart: list[str] = []
    tests = 0
    if results.exists():
        for case in _cases(results):
            tests += 1
            failed = [*case.findall("failure"), *case.findall("error")]
            failures += [f"{case.get('name')}: {_message(failure)}" for failure in failed]
            apart += [str(case.get("name"))] if case.findall("skipped") else []
    if not tests:
        place = dumped_at(log.read_text(encoding="utf-8", errors="replace"), study) if study else ""
        at = f" at {place}" if place else ""
        failures.append(f"the simulation ended before its test ({how_it_ended(code)}{at}); see {log}")
    elif code < 0 and not failures:
        failures.append(f"the simulator was {how_it_ended(code)} at its end; see {log}")
    return Outcome(not failures and code == 0, tests, failures, log, tuple(apart))


def _cases(results: Path) -> list[ET.Element]:
    """Return the tests in cocotb's result file; empty if the file is truncated, for example by a full disk."""
    try:
        return list(ET.parse(results).getroot().iter("testcase"))
    except ET.ParseError:
        return []


def _message(failure: ET.Element) -> str:
    return failure.get("message") or failure.get("error_msg") or (failure.text or "").strip()
