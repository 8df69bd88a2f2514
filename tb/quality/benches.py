"""Checks for a mutant of a module: benches whose design contains the module, then its proof.

Benches run on Icarus, which builds a bench in a second, with all cases that Verilator has; Verilator's build would take
ten times as long as the run. A bench ends at the first failed test.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from pathlib import Path

from pymodels.toml import read_toml
from tb.build.build import Design, build, needed_files
from tb.quality.proofs import proofs
from tb.tools.paths import ROOT

BENCHES = ROOT / "tests" / "block" / "benches"
FEW = 4
"""Maximum number of benches for a mutant; each needs a build of its own."""
TEST_SECONDS = "SANLAB_TEST_SECONDS"
"""Environment variable with the file of a bench's test durations, for `patience.py`."""
EAGER = {
    "SANLAB_EVERY_CASE": "1",
    "COCOTB_MAX_FAILURES": "1",
    "SANLAB_FIRST_CALL": "tb.quality.patience:begin",
}
SCOPE = re.compile(r'^S_\w+ \.scope module, "[^"]*" "(\w+)"', re.MULTILINE)
"""Pattern of an instance in a program of Icarus, with its module."""


@dataclass(frozen=True)
class ModuleCheck:
    """Check of a module: name for reports, command and variables. Benches have a time limit from a measurement."""

    name: str
    command: tuple[str, ...]
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def bench(self) -> bool:
        """True for a bench, false for a proof, which ends by itself."""
        return bool(self.variables)


def module_checks(module: str) -> list[ModuleCheck]:
    """Return the benches of a module, then its proof; a mutant is counted for the first that kills it."""
    proved = [ModuleCheck("proof", (sys.executable, "-m", "tb.quality.prove", module))] if _proved(module) else []
    return [*map(_bench, benches_of(module)), *proved]


def benches_of(module: str) -> list[str]:
    """Return at most FEW benches that contain a module: those with it as top first, then smaller designs."""
    return list(islice((name for name in naming(module) if module in instantiated(name)), FEW))


def naming(module: str) -> list[str]:
    """Return the benches whose files name a module, in the same order."""
    found: list[tuple[bool, int, str]] = []
    for path in sorted(BENCHES.glob("*.toml")):
        design = _design(path)
        files = needed_files(design)
        if any(file.stem == module for file in files):
            found.append((design.top != module, len(files), path.stem))
    return [name for _, _, name in sorted(found)]


def _design(path: Path) -> Design:
    bench = read_toml(path)[0]
    return Design(bench["toplevel"], bench.get("parameters", {}))


@cache
def instantiated(bench: str) -> frozenset[str]:
    """Return the modules of which a bench has instances. Files may name others in comments or for other parameters."""
    program = build(_design(BENCHES / f"{bench}.toml"), "icarus").folder / "top.vvp"
    return frozenset(SCOPE.findall(program.read_text(encoding="utf-8")))


def _bench(name: str) -> ModuleCheck:
    words = (sys.executable, "-m", "tb.sanlab", "sim", "--sim=icarus", "--seed=1", "--", name)
    return ModuleCheck(f"bench {name}", words, EAGER)


def _proved(module: str) -> bool:
    return any(one.block == module for one in proofs())
