"""What looks at a mutant of a module: benches whose design has the module, then its proof.

Benches run on Icarus, which builds one in a second, with every case that Verilator has: what Verilator adds is speed,
and its build takes ten times as long as the run. They end with the first test that fails.
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
"""Benches for a mutant: each is a build of its own."""
TEST_SECONDS = "SANLAB_TEST_SECONDS"
"""The variable with the file of what the tests of a bench take, for `patience.py`, which is its first call."""
EAGER = {
    "SANLAB_EVERY_CASE": "1",
    "COCOTB_MAX_FAILURES": "1",
    "SANLAB_FIRST_CALL": "tb.quality.patience:begin",
}
SCOPE = re.compile(r'^S_\w+ \.scope module, "[^"]*" "(\w+)"', re.MULTILINE)
"""An instance in a program of Icarus, and its module."""


@dataclass(frozen=True)
class ModuleCheck:
    """A check of a module: how reports call it, its command and variables; a bench is given as long as it needs."""

    name: str
    command: tuple[str, ...]
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def bench(self) -> bool:
        """Not a proof, which ends by itself."""
        return bool(self.variables)


def module_checks(module: str) -> list[ModuleCheck]:
    """Its benches, then its proof: what benches kill is counted for them."""
    proved = [ModuleCheck("proof", (sys.executable, "-m", "tb.quality.prove", module))] if _proved(module) else []
    return [*map(_bench, benches_of(module)), *proved]


def benches_of(module: str) -> list[str]:
    """The benches in which a module is, FEW at most: those with it at the top first, then the smaller designs."""
    return list(islice((name for name in naming(module) if module in instantiated(name)), FEW))


def naming(module: str) -> list[str]:
    """The benches of which a file names a module, in that order."""
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
    """The modules of which a bench has an instance: it may name others, in a comment or for other parameters."""
    program = build(_design(BENCHES / f"{bench}.toml"), "icarus").folder / "top.vvp"
    return frozenset(SCOPE.findall(program.read_text(encoding="utf-8")))


def _bench(name: str) -> ModuleCheck:
    words = (sys.executable, "-m", "tb.sanlab", "sim", "--sim=icarus", "--seed=1", "--", name)
    return ModuleCheck(f"bench {name}", words, EAGER)


def _proved(module: str) -> bool:
    return any(one.block == module for one in proofs())
