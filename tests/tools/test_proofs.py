"""`make prove`: what is proved of blocks holds, and a proof fails when its block is wrong.

Strategy: all proofs are run, as `make prove` does. Each block is then changed in a few places, chosen by a seed: its
proof must fail for every change that its file does not list as unseen. A proof whose assumptions contradict each other
would hold for every mutant, so this shows that too.
"""

from __future__ import annotations

import pytest

from tb.quality.proofs import Proof, proofs, prove, unseen
from tb.quality.prove import main, mutated
from tb.tools.paths import OUT

MUTANTS = 2
"""Of a block; `python -m tb.quality.prove --mutants 0` tries all."""


def test_all_proofs_hold() -> None:
    assert main([]) == 0


@pytest.mark.parametrize("block", sorted({one.block for one in proofs()}))
def test_a_proof_fails_on_mutants_of_its_block(block: str) -> None:
    proof = next(one for one in proofs() if one.block == block)
    tried = {mutant.shown: bool(prove(proof, text).failed) for _, mutant, text in mutated([proof], MUTANTS, 1)}
    assert {shown for shown, killed in tried.items() if not killed} <= set(unseen(proof))
    assert len(tried) == MUTANTS


def test_a_counterexample_is_left_as_a_waveform(monkeypatch: pytest.MonkeyPatch) -> None:
    proof = next(one for one in proofs() if one.block == "myri_index")
    wrong = Proof(proof.path, "bounded", 1, False, {"N": 6})
    monkeypatch.setattr("tb.quality.proofs.with_properties", wrong_index)
    verdict = prove(wrong)
    assert verdict.failed and verdict.wave == OUT / "prove" / "myri_index.vcd"
    assert "$var" in verdict.wave.read_text(encoding="utf-8")


def wrong_index(text: str, properties: str) -> str:
    """The index of a bit is one more than it is."""
    end = text.rindex("endmodule")
    return f"{text[:end]}{properties.replace('index == i', 'index == i + 1')}\n{text[end:]}"
