"""The mixed fuzz on the machine, with seeds that are always the same. Strategy: programs of each layer that use all of
it at once, from seeds in a row, run against references written from the layer's API; whatever is wrong is named with
the program. `make fuzz` runs new ones, and shrinks what fails.
"""

from __future__ import annotations

import pytest

from tb.fuzz import trial
from tb.fuzz.known import known

SEEDS = {"grim": 500, "hpam": 100, "ssam": 100, "via": 400}
"""Of GRIM's firmware 500 more seeds reach 0.2 % more lines, of VIA's 100 more reach none."""
AT_ONCE = 50


def failing(layer: str, first: int) -> list[str]:
    """What was wrong with programs of some seeds, those apart that are known."""
    told = []
    for seed in range(first, first + AT_ONCE):
        program, _ = trial.drawn(layer, seed)
        failures = list(trial.on_machine(layer, program).failures)
        if failures and known(layer, failures) is None:
            told.append(f"make fuzz LAYER={layer} SEEDS={seed}..{seed}\n{program}\n" + "\n".join(failures[:5]))
    return told


@pytest.mark.parametrize(
    ("layer", "first"), [(layer, first) for layer, count in SEEDS.items() for first in range(0, count, AT_ONCE)]
)
def test_programs_that_do_everything_at_once_go_as_their_reference_says(layer: str, first: int) -> None:
    wrong = failing(layer, first)
    assert not wrong, "\n\n".join(wrong)


def test_every_layer_with_a_fuzz_is_here() -> None:
    assert set(SEEDS) == set(trial.names())
