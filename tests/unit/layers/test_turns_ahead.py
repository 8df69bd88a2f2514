"""Computed turns of a polling loop: their number, and equality with a loop that executes every turn.

Strategy: the hardware is a model whose turns have a periodic pattern of durations, and longer ones where another event
occurs. A loop that executes every turn is compared with a loop that computes turns. Both must start the same turns at
the same times and end at the same time, for all times of other events.
"""

from __future__ import annotations

from itertools import count

from hypothesis import example, given
from hypothesis import strategies as st

from pymodels.host.ahead import MOST, Turns
from pymodels.kernel import FOREVER


class Hardware:
    """Model whose turns depend on the time and on the number of executed turns."""

    executes = False

    def __init__(self, grid: int, pattern: int, others: list[int]) -> None:
        self.grid_ps, self.pattern, self.others = grid, pattern, sorted(others)
        self.now, self.executed = 1, 0
        self.begins: list[int] = []

    def quiet_until(self) -> int:
        return next((time for time in self.others if time >= self.now), FOREVER)

    def mark(self) -> tuple[int, ...]:
        return len(self.begins), 0

    def again(self, mark: tuple[int, ...], period_ps: int, times: int) -> bool:
        turn = self.begins[mark[0] :]
        self.begins += [begin + k * period_ps for k in range(1, times + 1) for begin in turn]
        return True

    def turn(self) -> None:
        """Execute one turn."""
        grid = self.grid_ps
        late = grid // 3 if self.now % grid < 2 * grid // 3 else grid // 2
        took = 10 * grid + late + (grid if self.executed % self.pattern == 0 else 0)
        took += 7 * sum(self.now <= time < self.now + took for time in self.others)
        self.begins.append(self.now)
        self.now, self.executed = self.now + took, self.executed + 1


def loop(hardware: Hardware, last: int, computes: bool) -> int:
    """Run until a turn ends at `last` or later, and return the number of executed turns."""
    turns = Turns(hardware)
    for executed in count():
        if hardware.now >= last:
            return executed
        if computes:
            hardware.now = turns.ahead(hardware.now, last)
        hardware.turn()
    raise AssertionError


@given(
    grid=st.sampled_from((1, 2, 30)),
    pattern=st.integers(1, 3),
    others=st.lists(st.integers(1, 12_000), max_size=5),
    last=st.integers(1, 15_000),
)
@example(grid=1, pattern=1, others=[5, 23, 41], last=200)
def test_a_loop_with_computed_turns_equals_one_that_executes_them(
    grid: int, pattern: int, others: list[int], last: int
) -> None:
    executes, computes = (Hardware(grid, pattern, others) for _ in range(2))
    loop(executes, last, False)
    loop(computes, last, True)
    assert (computes.begins, computes.now) == (executes.begins, executes.now)


def test_an_undisturbed_loop_executes_a_few_turns_only() -> None:
    hardware = Hardware(30, 1, [])
    assert loop(hardware, 1_000_000, True) <= 2 * MOST + 1
    assert len(hardware.begins) > 1_000


def test_two_equal_turns_are_executed_before_the_last_one() -> None:
    assert loop(Hardware(1, 1, []), 1_000_000, True) == 3


def test_a_turn_that_may_coincide_with_another_event_is_executed() -> None:
    hardware = Hardware(30, 1, [5 * 330 + 1])
    turns = Turns(hardware)
    for _ in range(2):
        assert turns.ahead(hardware.now, FOREVER) == hardware.now
        hardware.turn()
    assert turns.ahead(hardware.now, FOREVER) < 5 * 330 + 1


def test_a_loop_without_an_end_is_recognized() -> None:
    hardware = Hardware(30, 1, [])
    turns = Turns(hardware)
    while (begin := turns.ahead(hardware.now, FOREVER)) == hardware.now:
        hardware.turn()
    assert begin == FOREVER
