"""Controlled schedule of a machine's tasks.

Strategy: bare tasks run on the kernel. Each timer must be a turn of its own, and a load must belong to the task that
waits for it. States must differ by the age of a time as far as software can observe it.
"""

from __future__ import annotations

import pytest

from pymodels.machine.memory import Memory
from pymodels.machine.schedule import BUS, PIO_READ, TIMER, TurnKernel, TurnSpin
from pymodels.machine.spin import CpuTime, Look
from tb.explore.digest import AGE, AGES, PICOSECONDS, Digest


@pytest.fixture
def kernel() -> TurnKernel:
    """Return a kernel whose turns are chosen."""
    found = TurnKernel(fine=False)
    found.choose()
    return found


def take_all(kernel: TurnKernel) -> None:
    """Take the first turn repeatedly until there is none."""
    while turns := kernel.turns():
        kernel.take(turns[0])


def test_two_tasks_of_one_name_that_sleep_have_a_timer_each(kernel: TurnKernel) -> None:
    awake: list[int] = []

    async def nap(number: int) -> None:
        await kernel.sleep(1000)
        awake.append(number)

    for number in range(2):
        kernel.spawn(nap(number), "host a: nap")
    take_all(kernel)
    assert sorted(awake) == [0, 1]


def test_the_load_at_the_head_of_the_bus_is_that_of_the_first_task(kernel: TurnKernel) -> None:
    async def load() -> None:
        await kernel.sleep_until(0, PIO_READ)

    async def late() -> None:
        await kernel.sleep(1000)
        await load()

    kernel.spawn(late(), "host a: late")
    early = kernel.spawn(load(), "host a: early")
    while not kernel.lanes.get(f"host a: {BUS}") or any(TIMER in turn.part for turn in kernel.turns()):
        kernel.take(next(turn for turn in kernel.turns() if BUS not in turn.part))
    assert kernel.waiter(f"host a: {BUS}") is early


def steps_that_hit(loop: TurnSpin, kernel: TurnKernel) -> list[int]:
    """Start a loop on a word with value 0, change its expected value, and return the steps that hit."""
    hits: list[int] = []

    async def poll() -> None:
        hits.append(await loop.run())

    kernel.spawn(poll(), "nic a: poll")
    kernel.run_ready()
    assert not kernel.turns()
    loop.expect(1, 7)
    return hits


@pytest.mark.parametrize("chosen", [False, True])
def test_a_loop_with_a_changed_expected_value_hits_in_time_or_by_a_turn(chosen: bool) -> None:
    kernel = TurnKernel(fine=False)
    loop = TurnSpin(CpuTime(kernel), Memory("sram", 8), [Look(at, 0, 7, False, 10) for at in (0, 4)], why="nic a")
    if chosen:
        kernel.choose()
    hits = steps_that_hit(loop, kernel)
    if chosen:
        assert [turn.what for turn in kernel.turns()] == ["notices the word at 0x4"]
        take_all(kernel)
    else:
        kernel.run()
    assert hits == [1]


@pytest.mark.parametrize(("one", "other", "alike"), [(0, 1, True), (0, AGE, False), (AGES * AGE, 99 * AGE, True)])
def test_states_differ_by_the_age_of_a_time(one: int, other: int, alike: bool) -> None:
    now = PICOSECONDS + 100 * AGE
    first, second = (Digest([], [], lambda: (now, 0)).hash(now - ago) for ago in (one, other))
    assert (first == second) is alike
