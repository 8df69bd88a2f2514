"""The mixed fuzz on the machine, with seeds that are always the same. Strategy: programs of each layer that use all of
it at once, from seeds in a row, run against references written from the layer's API; whatever is wrong is named with
the program. The first ones of layers with a NIC program run in `test_charges_of_traffic`. `make fuzz` runs new ones,
and shrinks what fails.
"""

from __future__ import annotations

import pytest

from tb.fuzz import trial
from tests.unit.fuzzed import COUNTED, SEEDS, wrong

AT_ONCE = 50


@pytest.mark.parametrize(
    ("layer", "first"),
    [(layer, first) for layer, count in SEEDS.items() for first in range(COUNTED.get(layer, 0), count, AT_ONCE)],
)
def test_programs_that_do_everything_at_once_go_as_their_reference_says(layer: str, first: int) -> None:
    told = [wrong(layer, seed, trial.drawn(layer, seed)[0]) for seed in range(first, first + AT_ONCE)]
    assert not any(told), "\n\n".join(filter(None, told))


def test_a_program_whose_repeats_once_kept_the_receive_pools_full_for_ever_ends() -> None:
    """HPAM with a time-out that is shorter than its answers take, and repeats at a constant rate."""
    program = trial.drawn("hpam", 1914)[0]
    assert program.options["timeout_us"] == 60
    assert wrong("hpam", 1914, program) == ""


def test_every_layer_with_a_fuzz_is_here() -> None:
    assert set(SEEDS) == set(trial.names())
