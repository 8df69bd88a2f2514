"""Polling of words of host memory beside other users of the CPU, on each binding of the host's verbs.

Strategy: as `test_computing`. Each poll executes a path. The loop pauses while an interrupt routine or another thread
has the CPU, so the detection of a change is delayed by exactly that time. The RTL's loop fetches the changed word from
memory, which the machine does not model; here that takes no time.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.tools.hosts import BINDINGS, ENTRY, PATH, Bound


def polled(
    bound: Bound, change: int, routines: list[tuple[int, int]], computed_ns: int = 0
) -> tuple[int, int, list[tuple[int, int]]]:
    """Return the end of a poll of a word that changes, the CPU time used until then, and the share of computing."""
    host, start = bound.host, bound.kernel.now
    word, seen = host.allocate(64).address, [0, 0]
    for at, calls in routines:
        bound.routine(start + at, calls)
    bound.kernel.at(start + change, lambda: host.store_words(word, (1,)))

    async def poll() -> None:
        assert await host.poll([(word, 0)], "look_flag") == 0
        seen[:] = bound.kernel.now - start, host.cpu_ps

    programs = [poll(), host.compute(computed_ns)] if computed_ns else [poll()]
    bound.ends(*programs)
    return seen[0], seen[1], [(begin - start, end - start) for begin, end in bound.stretches()]


@pytest.mark.parametrize("binding", BINDINGS)
def test_a_loop_pauses_while_an_interrupt_routine_has_the_cpu(
    library: Path, monkeypatch: pytest.MonkeyPatch, binding: str
) -> None:
    bound = Bound(binding, library, monkeypatch, miss=0)
    routine, change = 50 * ENTRY, 30_000
    looks = -(-(change - routine) // PATH)
    end, used, _ = polled(bound, change, [(1000, 50)])
    assert end == used == looks * PATH + routine != -(-change // PATH) * PATH


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    change=st.integers(0, 30_000),
    routines=st.lists(st.tuples(st.integers(0, 20_000), st.integers(1, 40)), max_size=4),
    computed=st.integers(0, 20),
)
def test_bindings_agree_wherever_routines_and_the_change_fall(
    library: Path, monkeypatch: pytest.MonkeyPatch, change: int, routines: list[tuple[int, int]], computed: int
) -> None:
    found = []
    for binding in BINDINGS:
        bound = Bound(binding, library, monkeypatch, miss=0)
        found.append(polled(bound, change, routines, computed))
    assert found[0] == found[1] == found[2]
