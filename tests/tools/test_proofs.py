"""`make prove`: the proofs of blocks hold, and fail for wrong blocks.

Strategy: all proofs run that have no record with the same sources; `make test-long` runs all, like `make prove`. Each
block is then changed in a few places, chosen by a seed: its proof must fail for every change that its file does not
list as unseen. A proof with contradictory assumptions would hold for every mutant, so this is detected, too. For some
proofs one assumption at a time is removed: the solver must then find a failure from reset on, so each of them is
needed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tb.build.build import Design, content, needed_files
from tb.quality import proved
from tb.quality.proofs import Proof, of_enables_only, own_mutants, proofs, prove, unseen, with_properties
from tb.quality.prove import main, mutated
from tb.quality.replay import FAILS, replay
from tb.tools.paths import OUT

MUTANTS = 2
"""Mutants of a block, one if a proof is of clock enables only; all with the variable below."""
ALL = "SANLAB_ALL_MUTANTS"


def test_all_proofs_hold() -> None:
    """Skip proofs whose recorded digests are equal: they ran when the record was written."""
    assert main([] if ALL in os.environ else ["--new"]) == 0


def test_the_record_has_every_proof_and_no_other() -> None:
    assert proved.load().keys() == {proved.key(one) for one in proofs()}
    assert len({proved.key(one) for one in proofs()}) == len(proofs())


def test_a_proof_is_pending_if_any_of_its_dependencies_differs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    proof = next(one for one in proofs() if one.block == "myri_index")
    record = {proved.key(proof): proved.digest(proof)}
    assert proved.pending([proof], record) == []
    weaker = tmp_path / proof.path.name
    weaker.write_text(proof.path.read_text(encoding="utf-8").replace("assert", "assume"), encoding="utf-8")
    assert proved.pending([replace(proof, path=weaker)], record)
    assert proved.pending([replace(proof, steps=proof.steps + 1)], record)
    (block,) = (path for path in content(Design(proof.block)) if path.stem == proof.block)
    changed = tmp_path / block.name
    changed.write_text(block.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    monkeypatch.setattr(proved, "content", lambda design: [changed])
    assert proved.pending([proof], record)
    monkeypatch.undo()
    monkeypatch.setattr(proved, "version", lambda name: "0")
    assert proved.pending([proof], record)


def test_a_pending_proof_that_fails_is_a_failure_and_is_not_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proved, "RECORD", tmp_path / "proved.json")
    monkeypatch.setattr("tb.quality.proofs.with_properties", wrong_index)
    monkeypatch.setattr("tb.quality.prove.proofs", lambda: [one for one in proofs() if one.block == "myri_index"])
    assert main(["--new"]) == 1 and main(["--record"]) == 1
    assert not proved.RECORD.exists()
    monkeypatch.undo()
    monkeypatch.setattr(proved, "RECORD", tmp_path / "proved.json")
    monkeypatch.setattr("tb.quality.prove.proofs", lambda: [one for one in proofs() if one.block == "myri_index"])
    assert main(["--record"]) == 0 and proved.load()


@pytest.mark.parametrize("block", sorted({one.block for one in proofs()}))
def test_a_proof_fails_on_mutants_of_its_block(block: str) -> None:
    proof = next(one for one in proofs() if one.block == block)
    count = 0 if ALL in os.environ else 1 if of_enables_only(proof) else MUTANTS
    drawn = list(mutated([proof], count, 1))
    tried = {mutant.shown: prove(proof, text, keep=False) for _, mutant, text in drawn}
    assert {shown for shown, verdict in tried.items() if not verdict.refuted} <= set(unseen(proof))
    (source,) = (one for one in needed_files(Design(block)) if one.stem == proof.changed)
    own = own_mutants(proof, source.read_text(encoding="utf-8"))
    assert len(drawn) == (min(count, len(own)) if count else len(own))


LOOSENED = [
    ("myri_link_rx", "  assume (9'(cfg.stop_mark) + 9'(room) <= 9'(cfg.slack));\n", 6),
    ("myri_link_rx", "  if (stopping[0] && since >= room) assume (!gen_lane[0].arriving);\n", 6),
    ("sim_link_ends", "  assume ((beat_due & beat_last) == 2'd0);\n", 12),
    ("myri_pci_target", "    if (was_irdy && !was_done) assume (irdy_on && frame_on == was_frame);\n", 6),
    ("myri_switch_output", "  assume (gap_leaves == left);\n", 6),
    ("myri_switch_output", "  assume ((request & (waiting | active)) == '0);\n", 6),
]
"""Blocks, the removed assumption, and the number of clock edges from reset on within which it shows."""


@pytest.mark.parametrize(("block", "assumption", "steps"), LOOSENED)
def test_without_an_assumption_there_is_a_counterexample(
    block: str, assumption: str, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    proof = next(one for one in proofs() if one.block == block)
    monkeypatch.setattr("tb.quality.proofs.with_properties", without(assumption))
    verdict = prove(Proof(proof.path, "bounded", steps, False, proof.parameters))
    assert verdict.failed and all("Assert failed" in line for line in verdict.failed)
    assert verdict.wave is not None and "$var" in verdict.wave.read_text(encoding="utf-8")


def without(assumption: str) -> Callable[[str, str], str]:
    """Return an edit that removes an assumption from the properties of a block."""

    def loosened(text: str, properties: str) -> str:
        assert properties.count(assumption) == 1
        return with_properties(text, properties.replace(assumption, ""))

    return loosened


def test_a_counterexample_is_left_as_a_waveform(monkeypatch: pytest.MonkeyPatch) -> None:
    proof = next(one for one in proofs() if one.block == "myri_index")
    wrong = Proof(proof.path, "bounded", 1, False, {"N": 6})
    monkeypatch.setattr("tb.quality.proofs.with_properties", wrong_index)
    verdict = prove(wrong)
    assert verdict.failed and verdict.wave == OUT / "prove" / "myri_index.vcd"
    assert "$var" in verdict.wave.read_text(encoding="utf-8")


def test_a_counterexample_is_a_test_in_which_the_same_property_fails() -> None:
    proof = next(one for one in proofs() if one.block == "myri_rr_arbiter")
    (source,) = (one for one in needed_files(Design(proof.block)) if one.stem == proof.block)
    text = source.read_text(encoding="utf-8")
    assert text.count("after_last_q <= ~(grant |") == 1
    verdict = prove(proof, text.replace("after_last_q <= ~(grant |", "after_last_q <= (grant |"))
    assert verdict.test == OUT / "prove" / "test_myri_rr_arbiter.py"
    outcome, said = replay(proof.block, proof.parameters)
    (line,) = re.findall(r"the property of line (\d+) of myri_rr_arbiter.sv", verdict.test.read_text(encoding="utf-8"))
    assert not outcome.passed and said == FAILS.format(line)


def test_a_mutant_that_yosys_cannot_read_is_not_killed() -> None:
    proof = next(one for one in proofs() if one.block == "myri_index")
    verdict = prove(proof, "module myri_index (\n);\nassign = 1;\nendmodule\n")
    assert verdict.failed and not verdict.refuted


def test_a_name_that_a_block_does_not_have_is_no_silent_wire(monkeypatch: pytest.MonkeyPatch) -> None:
    proof = next(one for one in proofs() if one.block == "myri_index")
    monkeypatch.setattr("tb.quality.proofs.with_properties", foreign)
    assert "`\\u_part.value_q' is implicitly declared" in prove(proof).failed[0]


def foreign(text: str, properties: str) -> str:
    """Access the state of a submodule from outside."""
    return with_properties(text, "always_comb assert (!u_part.value_q || u_part.value_q);")


def wrong_index(text: str, properties: str) -> str:
    """Make the index of a bit too large by one."""
    return with_properties(text, properties.replace("index == i", "index == i + 1"))
