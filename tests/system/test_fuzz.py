"""The mixed fuzz on the RTL, with seeds that are always the same. Strategy: the programs of the machine's fuzz, each in
a copy of one simulation; the invariants of the hardware are watched, too.
"""

from __future__ import annotations

import pytest

from tb.fuzz.batch import Batch, Found, run_batch
from tb.fuzz.known import known

SEEDS = {"grim": 60, "hpam": 6, "ssam": 6, "via": 40}
"""What fits into two minutes."""


@pytest.mark.parametrize("layer", SEEDS)
def test_programs_that_do_everything_at_once_go_on_the_rtl_as_their_reference_says(layer: str) -> None:
    done = run_batch(Batch(layer, 0, SEEDS[layer], "verilator"))
    assert done.failures == ()
    failures = Found.read(done.results).failures
    wrong = {seed: lines for seed, lines in failures.items() if known(layer, lines) is None}
    assert wrong == {}
