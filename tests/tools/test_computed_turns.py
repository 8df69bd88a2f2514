"""Trace of computed turns: the doorway's utilisation windows, and repeated records of a turn.

Strategy: turns of random length have random uses of two resources and a record. They are passed to the doorway turn by
turn, and once with the others computed. The traces must be equal. The trace is also read in between.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tb.build.doorway import copy_doorway
from tb.sim.compiled import COMPILED
from tb.sim.doorway import Doorway

CLOCK, PERIOD, RECORD = 0, 10, 7
LOG2 = {1: 3, 2: 5}
"""Logarithms of the utilisation windows of two resources, by unit."""
Uses = list[tuple[int, int, int, int]]


@pytest.fixture(name="doorway", scope="module")
def fixture_doorway(tmp_path_factory: pytest.TempPathFactory) -> Doorway:
    """Return a doorway with one clock, in a newly loaded library."""
    copy_doorway(folder := tmp_path_factory.mktemp("turns"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SANLAB_DOORWAY", str(folder / "libdoorway.so"))
        patch.setenv(COMPILED, "0")
        doorway = Doorway()
    doorway.trace_create(1 << 14)
    doorway.trace_on(True)
    doorway.lib.dw_clock(CLOCK, PERIOD)
    return doorway


def use(doorway: Doorway, uses: Uses, begin: int) -> None:
    """Apply one turn that begins at an edge."""
    for edge, unit, used, also in sorted(uses):
        doorway.lib.san_use((begin + edge) * PERIOD, unit, 100 + unit, CLOCK, LOG2[unit], used, also)
    doorway.record(begin * PERIOD + 1, 3, RECORD, 0, 0, 0)


def traced(doorway: Doorway, until: int) -> list[tuple[int, ...]]:
    """Return all sorted records; the doorway restarts."""
    doorway.lib.dw_trace_whole(until * PERIOD)
    got = sorted(tuple(int(x) for x in row) for row in doorway.trace().tolist())
    doorway.exchange.trace_count[0] = 0
    return got


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    clocks=st.integers(1, 40),
    turns=st.integers(2, 40),
    computed=st.integers(1, 60),
    uses=st.lists(st.tuples(st.integers(0, 39), st.sampled_from((1, 2)), st.integers(0, 2), st.integers(0, 1))),
    looked=st.booleans(),
)
def test_computed_turns_leave_the_same_records_as_executed_ones(
    doorway: Doorway, clocks: int, turns: int, computed: int, uses: Uses, looked: bool
) -> None:
    turn = [one for one in uses if one[0] < clocks and (one[2] or one[3])]
    end = (turns + computed + 1) * clocks
    over = end + 64
    for number in range(turns + computed + 1):
        use(doorway, turn, number * clocks)
    executed = traced(doorway, over)

    for number in range(turns - 1):
        use(doorway, turn, number * clocks)
    records, seen = doorway.exchange.trace_count[0], doorway.words("dw_use_count", 1, "Q")[0]
    use(doorway, turn, (turns - 1) * clocks)
    assert doorway.lib.dw_again(records, seen, 0, clocks * PERIOD, computed)
    if looked:
        assert np.count_nonzero(doorway.trace()["event"] == RECORD) == turns + computed
    use(doorway, turn, (turns + computed) * clocks)
    assert traced(doorway, over) == executed


def test_a_turn_with_too_many_uses_is_not_computed(doorway: Doorway) -> None:
    seen = doorway.words("dw_use_count", 1, "Q")[0]
    use(doorway, [(edge, 1, 1, 0) for edge in range(1025)], 0)
    assert not doorway.lib.dw_again(0, seen, 0, 1025 * PERIOD, 1)
    traced(doorway, 1 << 20)
