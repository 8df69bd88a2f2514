"""The mixed fuzz test on the machine, with fixed seeds.

Strategy: programs that use all features of a layer concurrently run against references written from the layer's API;
errors are reported with the program. The first seeds of layers with a NIC program run in `test_charges_of_traffic`;
here run the fewest others that reach all branches reached by some hundreds (`choose_seeds`). `make fuzz` runs new seeds
and shrinks failing programs.
"""

from __future__ import annotations

import pytest

from pymodels.toml import read_toml
from tb.fuzz import trial
from tests.unit.fuzz.choose_seeds import fewest, filled
from tests.unit.fuzz.fuzzed import COUNTED, SEEDS, wrong

AT_ONCE = 25
BY_LAYER = read_toml(SEEDS)[0]
GROUPS = [(layer, seeds[k : k + AT_ONCE]) for layer, seeds in BY_LAYER.items() for k in range(0, len(seeds), AT_ONCE)]


@pytest.mark.parametrize(("layer", "seeds"), GROUPS, ids=[f"{layer}-{seeds[0]}" for layer, seeds in GROUPS])
def test_mixed_programs_match_their_reference(layer: str, seeds: list[int]) -> None:
    failures = [wrong(layer, seed, trial.drawn(layer, seed)[0]) for seed in seeds]
    assert not any(failures), "\n\n".join(filter(None, failures))


def test_program_with_receive_pools_full_of_duplicates_ends() -> None:
    """HPAM with a time-out that is shorter than its answers take, and repeats at a constant rate."""
    program = trial.drawn("hpam", 1914)[0]
    assert program.options["timeout_us"] == 60
    assert wrong("hpam", 1914, program) == ""


def test_every_layer_with_a_fuzz_is_here() -> None:
    assert set(BY_LAYER) == set(trial.names())
    assert all(BY_LAYER[layer] or COUNTED.get(layer) for layer in BY_LAYER)


def test_the_fewest_seeds_reach_what_all_of_them_reach() -> None:
    a, b, c = (("file.py", line, line + 1) for line in range(3))
    assert fewest(
        frozenset([a]), {7: frozenset([a]), 8: frozenset([b]), 9: frozenset([a, b, c]), 10: frozenset([c])}
    ) == [9]
    assert filled([9], 0) == [*range(9), 9]
    assert filled([12], 8) == [8, 12]
    assert filled([], 50) == []
