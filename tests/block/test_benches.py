"""All block benches on both simulators.

Strategy: each file of tests/block/benches is one regression: a driver, an independent model, a scoreboard, random
traffic with seeds, stalls and gaps. pytest only starts them; the behaviours are the names of the cocotb tests inside,
which appear in the failure message. Builds are cached by content.
"""

from __future__ import annotations

import pytest

from tb.run import block_bench
from tb.tools.paths import SIMULATORS


@pytest.mark.parametrize("simulator", SIMULATORS)
@pytest.mark.parametrize("name", block_bench.names())
def test_bench_passes(name: str, simulator: str) -> None:
    outcome = block_bench.run(name, simulator)
    assert outcome.passed, "\n".join([*outcome.failures, f"log: {outcome.log}"])
