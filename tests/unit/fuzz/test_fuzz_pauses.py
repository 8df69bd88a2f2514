"""Pauses between the actions of a program of the mixed fuzz test.

Strategy: programs of GRIM and VIA, some with blocking threads, run on the machine with random pauses before each
action. They are checked by the reference models of the fuzz test. The other random choices of a program must not
change.
"""

from __future__ import annotations

import pytest

from tb.fuzz import trial
from tb.fuzz.program import with_pauses

MOST_US = 20
SEEDS = 4


@pytest.mark.parametrize("layer", ["grim", "via"])
def test_programs_with_pauses_match_their_reference(layer: str) -> None:
    wrong = {}
    for seed in range(SEEDS):
        program, _ = trial.drawn(layer, seed)
        paused = with_pauses(program, MOST_US, seed)
        if failures := trial.on_machine(layer, paused).failures:
            wrong[seed] = failures
    assert wrong == {}


def test_pauses_depend_on_the_seed_and_have_no_other_effect() -> None:
    program, _ = trial.drawn("via", 3)
    paused = with_pauses(program, MOST_US, 3)
    assert paused == with_pauses(program, MOST_US, 3) != with_pauses(program, MOST_US, 4)
    assert with_pauses(program, 0, 3) == program
    assert [(act.node, act.name, act.values) for act in paused.acts] == [
        (act.node, act.name, act.values) for act in program.acts
    ]
    pauses = [act.pause_ps for act in paused.acts]
    assert max(pauses) <= MOST_US * 1_000_000 and len(set(pauses)) == len(pauses)
    assert f"after {pauses[0]} ps" in str(paused)
